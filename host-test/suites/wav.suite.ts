import { WavReader } from "../../src/sound/wav-reader.js";
import { wavFile } from "../doubles/wav.js";
import { equal, suite, throws } from "../harness.js";

function read(file: Uint8Array, size = file.byteLength): { samples: number[]; sampleRate: number | undefined } {
	const reader = new WavReader();
	const samples: number[] = [];
	for (let at = 0; at < file.byteLength; at += size) {
		samples.push(...reader.read(file.slice(at, at + size)).flatMap((bytes) => [...bytes]));
	}
	return { samples, sampleRate: reader.sampleRate };
}

const SAMPLES = [1, 2, 3, 4, 5, 6, 255, 127];

export default suite("WAV files", {
	"give their samples and their sample rate, in whatever pieces they come"() {
		const file = wavFile(SAMPLES, { sampleRate: 22_050, chunks: [["LIST", 7]] });
		for (let size = 1; size <= file.byteLength; size += 1) {
			equal(read(file, size), { samples: SAMPLES, sampleRate: 22_050 }, `pieces of ${size}`);
		}
	},
	"are read to the end of their samples, whatever follows"() {
		const file = Uint8Array.from([...wavFile(SAMPLES), 9, 9, 9, 9]);
		equal(read(file).samples, SAMPLES);
		equal(read(file, 1).samples, SAMPLES);
	},
	"with two channels give the mean of both"() {
		const file = wavFile([0, 4, 0, 8, 255, 255, 253, 255], { channels: 2 });
		for (const size of [1, 3, file.byteLength]) {
			equal(read(file, size).samples, [0, 6, 254, 255], `pieces of ${size}`);
		}
	},
	"with 8 bits give 16, and 128 is silence"() {
		equal(read(wavFile([128, 0, 255], { bits: 8 })).samples, [0, 0, 0, 128, 0, 127]);
	},
	"that cannot be played say why"() {
		for (const [file, reason] of [
			[wavFile([], { encoding: 3 }), /^WAV: encoding 3 is not supported, expected PCM \(1\)$/],
			[wavFile([], { bits: 24 }), /^WAV: 24 bits a sample are not supported, expected 8 or 16$/],
			[wavFile([], { channels: 6 }), /^WAV: 6 channels are not supported, expected 1 or 2$/],
			[wavFile([], { sampleRate: 96_000 }), /^WAV: 96000 Hz is not supported, expected 8000 to 48000$/],
			[wavFile([], { sampleRate: 0 }), /^WAV: 0 Hz is not supported/],
			[Uint8Array.from([...wavFile([])].reverse()), /^not a WAV file$/],
		] as const) {
			throws(() => read(file), reason);
			throws(() => read(file, 1), reason);
		}
	},
	"that tell of samples before their format are rejected"() {
		const file = wavFile([]);
		const data = Uint8Array.from([...file.slice(0, 12), ...file.slice(36)]);
		throws(() => read(data), /"data" comes before "fmt "/);
	},
	"that end early have no sample rate, or fewer samples"() {
		equal(read(wavFile(SAMPLES).slice(0, 40)), { samples: [], sampleRate: undefined });
		equal(read(wavFile(SAMPLES).slice(0, 47)).samples, SAMPLES.slice(0, 2));
	},
});
