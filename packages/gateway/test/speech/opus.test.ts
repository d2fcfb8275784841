import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { correlation } from "../../../../host-test/support/correlation.js";
import { readOgg, writeOgg } from "../../../../host-test/support/ogg.js";
import { whyMissing, whyNoOpus } from "../../../../host-test/support/optional-program.js";
import { skipIf } from "../../../../host-test/support/testing.js";
import { openOpusDecoder } from "../../../xs-mcp/src/build/opus.js";
import { SPOKEN_AUDIO } from "../../src/devices/hello.js";
import { sharePackets } from "../../src/speech/packets.js";
import { encodeWav, readWav, type Sound } from "../../src/speech/wav.js";

const TOOLS = skipIf((await whyNoOpus()) ?? whyMissing("opusenc", "opus-tools"));
const ESPEAK = skipIf(whyMissing("espeak-ng", "espeak-ng"));

/** Half a second at 24 kHz: what encoders and files delay is less. */
const MAX_DELAY = 12_000;

/** Sounds that have to stay as they are. */
const SENTENCE = "The soil is dry. Please water the plant.";

function spoken(): Sound {
	return readWav(execFileSync("espeak-ng", ["--stdout", SENTENCE], { maxBuffer: 2 ** 24 }));
}

function samplesOf({ samples }: Pick<Sound, "samples">): Int16Array {
	return new Int16Array(Uint8Array.from(samples).buffer);
}

async function encode(sound: Sound): Promise<Uint8Array[]> {
	const packets: Uint8Array[] = [];
	for await (const packet of await sharePackets(sound)) {
		packets.push(packet);
	}
	return packets;
}

async function decoded(packets: readonly Uint8Array[], rate: 16_000 | 24_000): Promise<Int16Array> {
	const decoder = await openOpusDecoder(rate);
	const pieces = packets.map((packet) => decoder.decode(packet));
	decoder.free();
	return Int16Array.from(pieces.flatMap((piece) => [...piece]));
}

const opusdec = (file: Uint8Array, rate: number) =>
	readWav(
		execFileSync("opusdec", ["--quiet", "--force-wav", "--rate", `${rate}`, "-", "-"], {
			input: file,
			maxBuffer: 2 ** 24,
			stdio: ["pipe", "pipe", "ignore"],
		}),
	);
const opusenc = (wav: Uint8Array) =>
	execFileSync("opusenc", ["--quiet", "--framesize", "60", "-", "-"], {
		input: wav,
		stdio: ["pipe", "pipe", "ignore"],
	});

describe("Opus, beside Debian's opus-tools", { skip: TOOLS || ESPEAK }, () => {
	it("what the gateway encodes is decoded by opusdec", async () => {
		const source = spoken();
		const packets = await encode(source);
		const { sample_rate: rate, frame_duration: duration } = SPOKEN_AUDIO;
		const heard = opusdec(writeOgg(packets, rate, duration), source.sampleRate);
		assert.equal(heard.sampleRate, source.sampleRate);
		const likeness = correlation(samplesOf(source), samplesOf(heard), MAX_DELAY);
		assert.ok(likeness > 0.9, `correlation ${likeness}`);
	});

	it("what opusenc encodes is decoded", async () => {
		const { samples } = spoken();
		const source = { sampleRate: 24_000, samples };
		const heard = await decoded(readOgg(opusenc(encodeWav(source))), 24_000);
		const likeness = correlation(samplesOf(source), heard, MAX_DELAY);
		assert.ok(likeness > 0.9, `correlation ${likeness}`);
	});

	it("a sound of any rate keeps its length and its pitch", async () => {
		for (const sampleRate of [8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000]) {
			const tone = Int16Array.from(
				{ length: sampleRate },
				(_, at) => 8_000 * Math.sin((at * 440 * 2 * Math.PI) / sampleRate),
			);
			const packets = await encode({ sampleRate, samples: Buffer.from(tone.buffer) });
			assert.equal(packets.length, Math.ceil(1_000 / SPOKEN_AUDIO.frame_duration));
			const same = Int16Array.from({ length: 24_000 }, (_, at) => 8_000 * Math.sin((at * 440 * 2 * Math.PI) / 24_000));
			const likeness = correlation(same, await decoded(packets, 24_000), 1_000);
			assert.ok(likeness > 0.95, `${sampleRate} Hz: correlation ${likeness}`);
		}
	});
});
