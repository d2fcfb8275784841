import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { SUITE } from "../../bench/operations.js";
import { bundle, chooseEngine, type Engine, type HeapLimits, type HeapReport } from "../../virtual-device/src/index.js";

// The memory of an ESP32 without PSRAM, on a 32-bit XS whose slots are as large as the chip's.

const { start, whyNotXs } = await chooseEngine("xs", { bits: 32 });
const server = await bundle(fileURLToPath(new URL("../../bench/server.ts", import.meta.url)), true);

async function boot(limits: HeapLimits = {}): Promise<Engine> {
	const engine = await start({ limits });
	await engine.run(`globalThis.hostConfig=${JSON.stringify({ config: { tools: 20 }, settings: {}, macAddress: "" })}`);
	await engine.run(server);
	return engine;
}

async function serve(engine: Engine, rounds: number): Promise<void> {
	for (const text of SUITE) {
		const [done] = await engine.deliver([{ header: ["bench", [text], rounds] }]);
		assert.equal(done?.header[1], rounds, text);
	}
}

describe("memory", {
	skip: whyNotXs !== undefined && `no 32-bit XS: ${whyNotXs.split("\n")[0]}`,
	timeout: 60_000,
}, () => {
	it("of built-ins + 3,000 slots and 64 KB of chunks is enough to serve 20 tools", async (t) => {
		const bare = await start({});
		const builtIns = (await bare.heap()) as HeapReport;
		bare.close();
		const engine = await boot({ slots: builtIns.slots + 3_000, chunkBytes: builtIns.chunkBytes + 65_536 });
		t.after(() => engine.close());
		await serve(engine, 20);
	});

	it("does not grow with the messages served", async (t) => {
		const engine = await boot();
		t.after(() => engine.close());
		await serve(engine, 10);
		const before = (await engine.heap()) as HeapReport;
		await serve(engine, 1_000);
		const after = (await engine.heap()) as HeapReport;
		assert.deepEqual([after.slots, after.chunkBytes], [before.slots, before.chunkBytes]);
	});
});
