// The cost of a frame of the face on emulated chips, with the SDK's renderer. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { describeChips } from "./chips.js";
import { startInSession } from "./device.js";
import { INSTRUCTION_NANOSECONDS } from "./qemu-chip.js";

const FIRMWARE = fileURLToPath(new URL("../fixtures/manifest_face.json", import.meta.url));

const FRAMES = 100;

/** A mouth that speaks is to move so many times a second. */
const LEAST_FRAMES = 15;

describeChips({ topic: "a face", firmware: FIRMWARE }, (build) => {
	for (const [state, emotion] of [
		["speaking", "happy"],
		["listening", "neutral"],
		["listening", "crying"],
	] as const) {
		it(`is drawn as often as it moves: ${state}, ${emotion}`, async (t) => {
			const device = await startInSession(t, { image: await build() });
			const answer = await device.call("self.test.draw_face", { state, emotion, frames: FRAMES });
			const { result } = answer;
			assert.equal(result?.isError, false, JSON.stringify(answer));
			const { took, pixels, passed } = JSON.parse(result.content[0].text);
			assert.ok(took < passed, `${took} ms to draw ${passed} ms`);
			const frames = (FRAMES * 1_000) / passed;
			assert.ok(state !== "speaking" || frames >= LEAST_FRAMES, `${frames} frames a second`);
			const instructions = Math.round((took * 1_000_000) / INSTRUCTION_NANOSECONDS / FRAMES);
			t.diagnostic(
				`${frames.toFixed(1)} frames a second, each ${pixels / FRAMES} pixels and ${instructions.toLocaleString("en")} instructions`,
			);
		});
	}
});
