import assert from "node:assert/strict";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { bundle, chooseEngine, type HeapReport } from "xs-mcp-virtual-device";
import { emotionWords } from "../../src/screen/emotions.js";
import { rounds, SUITE } from "../../tools/bench/engines.js";
import { CHIP_FREE, startWithRoom } from "../support/chip-heap.js";
import { skipIf } from "../support/testing.js";

const choice = await chooseEngine("xs", { bits: 32 });

const { whyNotXs } = choice;

const FACE = fileURLToPath(new URL("face-script.ts", import.meta.url));

/** Milliseconds between two messages of the backend: 120 of them are ten minutes, which pass in the face's timer alone. */
const SENTENCE = 5_000;
const SENTENCES = 120;

it(`a face on a chip's heap speaks for ten minutes beside calls with ${CHIP_FREE.slots} slots and ${CHIP_FREE.chunkBytes} bytes free, and keeps nothing`, {
	skip: skipIf(whyNotXs),
}, async (t) => {
	const engine = await startWithRoom(choice, 20, CHIP_FREE, await bundle(FACE, true));
	t.after(() => engine.close());
	const emotions = emotionWords();
	let frames = 0;
	const speak = async (at: number): Promise<void> => {
		const message = `Sentence ${at} of what the assistant says, which takes more than a line on a screen of this size.`;
		const change = { state: "speaking", emotion: emotions[at % emotions.length], message };
		const [done] = await engine.deliver([{ header: ["face", change, SENTENCE] }]);
		frames += Number(done?.header[1]);
		assert.ok(Number(done?.header[1]) > (15 * SENTENCE) / 1_000, `${done?.header[1]} drawings in ${SENTENCE} ms`);
		for (const text of SUITE) {
			await rounds(engine, [text], 1);
		}
	};
	for (let at = 0; at < emotions.length; at += 1) {
		await speak(at);
	}
	const before = (await engine.heap()) as HeapReport;
	for (let at = emotions.length; at < SENTENCES; at += 1) {
		await speak(at);
	}
	const after = (await engine.heap()) as HeapReport;
	assert.ok(after.slots - before.slots < 100, `${before.slots} slots, then ${after.slots}`);
	assert.ok(after.chunkBytes - before.chunkBytes < 1_000, `${before.chunkBytes} bytes, then ${after.chunkBytes}`);
	t.diagnostic(
		`${after.slots - before.slots} slots and ${after.chunkBytes - before.chunkBytes} bytes more; ${frames} drawings, ${after.collections} collections`,
	);
});
