import assert from "node:assert/strict";
import { it } from "node:test";
import { openOpusDecoder } from "xs-mcp/build/opus";
import { correlation } from "../../../host-test/support/correlation.js";
import { whyNoOpus } from "../../../host-test/support/optional-program.js";
import { skipIf } from "../../../host-test/support/testing.js";
import { SPOKEN_AUDIO } from "../src/devices/device-connection.js";
import { sharePackets } from "../src/speech/speech.js";

const toneAt = (rate: number) =>
	Int16Array.from({ length: rate }, (_, at) => 8_000 * Math.sin((at * 440 * 2 * Math.PI) / rate));

it("a sound of any rate keeps its length and its pitch as packets of Opus", {
	skip: skipIf(await whyNoOpus()),
}, async () => {
	for (const sampleRate of [8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000]) {
		const decoder = await openOpusDecoder(24_000);
		const pieces: Int16Array[] = [];
		for await (const packet of await sharePackets({ sampleRate, samples: Buffer.from(toneAt(sampleRate).buffer) })) {
			pieces.push(decoder.decode(packet));
		}
		decoder.free();
		assert.equal(pieces.length, Math.ceil(1_000 / SPOKEN_AUDIO.frame_duration));
		const likeness = correlation(toneAt(24_000), Int16Array.from(pieces.flatMap((piece) => [...piece])), 1_000);
		assert.ok(likeness > 0.95, `${sampleRate} Hz: correlation ${likeness}`);
	}
});
