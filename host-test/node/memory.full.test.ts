import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chooseEngine, type Engine, type HeapReport } from "xs-mcp-virtual-device";
import { SUITE, startServer } from "../../tools/bench/engines.js";
import { CHIP_FREE, startWithRoom } from "../support/chip-heap.js";
import { skipIf } from "../support/testing.js";

// The memory of an ESP32 without PSRAM, on a 32-bit XS whose slots are as large as the chip's.

const choice = await chooseEngine("xs", { bits: 32 });
const { whyNotXs } = choice;

async function serve(engine: Engine, rounds: number): Promise<void> {
	for (const text of SUITE) {
		const [done] = await engine.deliver([{ header: ["bench", [text], rounds] }]);
		assert.equal(done?.header[1], rounds, text);
	}
}

describe("memory", { skip: skipIf(whyNotXs) }, () => {
	it(`that a chip has free, ${CHIP_FREE.slots} slots and ${CHIP_FREE.chunkBytes} bytes, is enough to serve 20 tools`, async (t) => {
		const engine = await startWithRoom(choice, 20);
		t.after(() => engine.close());
		await serve(engine, 20);
	});

	it("does not grow with the messages served", async (t) => {
		const engine = await startServer(choice, 20);
		t.after(() => engine.close());
		await serve(engine, 10);
		const before = (await engine.heap()) as HeapReport;
		await serve(engine, 1_000);
		const after = (await engine.heap()) as HeapReport;
		assert.deepEqual([after.slots, after.chunkBytes], [before.slots, before.chunkBytes]);
	});
});
