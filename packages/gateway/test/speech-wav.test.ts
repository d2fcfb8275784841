import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { encodeWav, readWav } from "../src/speech/wav.js";

interface Form {
	/** 1: integers; 3: floating point. */
	readonly code: number;
	readonly bits: number;
	readonly channels?: number;
	/** The size that the head names. Default: the real one. */
	readonly size?: number;
}

function wavOf(samples: Buffer, { code, bits, channels = 1, size = samples.length }: Form): Buffer {
	const file = Buffer.from(encodeWav({ sampleRate: 24_000, samples }));
	file.writeUInt16LE(code, 20);
	file.writeUInt16LE(channels, 22);
	file.writeUInt16LE(bits, 34);
	file.writeUInt32LE(size, 40);
	return file;
}

const samplesIn = (file: Buffer): number[] => {
	const { sampleRate, samples } = readWav(file);
	assert.equal(sampleRate, 24_000);
	return Array.from({ length: samples.length / 2 }, (_, at) => samples.readInt16LE(2 * at));
};

describe("a WAV file of a voice", () => {
	it("may have 24 bits", () => {
		const samples = Buffer.alloc(9);
		samples.writeIntLE(0, 0, 3);
		samples.writeIntLE(2 ** 22, 3, 3);
		samples.writeIntLE(-(2 ** 23), 6, 3);
		assert.deepEqual(samplesIn(wavOf(samples, { code: 1, bits: 24 })), [0, 16_384, -32_767]);
	});

	it("may have floating-point samples, of several channels", () => {
		const samples = Buffer.from(Float32Array.of(0.5, 0.5, 1, -1, 3, 3, Number.NaN, 0).buffer);
		const form = { code: 3, bits: 32, channels: 2 };
		assert.deepEqual(samplesIn(wavOf(samples, form)), [16_384, 0, 32_767, 0]);
		const doubles = Buffer.from(Float64Array.of(-0.5).buffer);
		assert.deepEqual(samplesIn(wavOf(doubles, { code: 3, bits: 64 })), [-16_383]);
	});

	it("may have a head without the size of the samples, as of a program that writes to a pipe", () => {
		const samples = Buffer.from(Int16Array.of(1_000, -1_000).buffer);
		assert.deepEqual(samplesIn(wavOf(samples, { code: 1, bits: 16, size: 0 })), [1_000, -1_000]);
		assert.deepEqual(samplesIn(wavOf(samples, { code: 1, bits: 16, size: 0xffff_ffff })), [1_000, -1_000]);
	});

	it("is rejected if it has another format", () => {
		assert.throws(() => readWav(wavOf(Buffer.alloc(4), { code: 7, bits: 8 })));
		assert.throws(() => readWav(wavOf(Buffer.alloc(4), { code: 0xfffe, bits: 16 })), /16 bits in format 65534/);
		assert.throws(() => readWav(Buffer.from("<!doctype html>")), /not a WAV file/);
	});
});
