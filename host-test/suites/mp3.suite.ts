import { type Mp3Decoder, Mp3Reader } from "../../src/sound/mp3-reader.js";
import { wavFile } from "../doubles/wav.js";
import { equal, suite, throws } from "../harness.js";

/** Headers of frames: MPEG 1 with 44,100 Hz and 128 kbit/s, MPEG 2 with 24,000 Hz and 8 kbit/s. */
const MPEG_1 = [0xff, 0xfb, 0x90, 0x00];
const MPEG_2 = [0xff, 0xf3, 0x14, 0xc4];
const LENGTHS = { mpeg1: 417, mpeg2: 24 };

/** A frame whose samples are its number. */
const frame = (number: number, header = MPEG_2, length = LENGTHS.mpeg2): number[] => [
	...header,
	...Array.from({ length: length - 4 }, () => number),
];

/** Decodes to a sample for each frame, which has 9 for a fault. */
class FakeDecoder implements Mp3Decoder {
	readonly decoded: number[] = [];
	isOpen = false;

	decode(bytes: Uint8Array, samples: Uint8Array & { samples?: number }): number {
		const number = bytes[4] as number;
		this.decoded.push(bytes.byteLength);
		equal(bytes.buffer.byteLength - bytes.byteOffset - bytes.byteLength >= 2_048, true, "libmad reads past the frame");
		samples[0] = number;
		samples.samples = 1;
		return number === 9 ? 0 : bytes.byteLength - 8;
	}

	close(): void {
		this.isOpen = false;
	}
}

function read(file: readonly number[] | Uint8Array, size = file.length) {
	const decoder = new FakeDecoder();
	const reader = new Mp3Reader(() => {
		decoder.isOpen = true;
		return decoder;
	});
	const samples: number[] = [];
	const add = (piece?: Uint8Array): void => {
		for (const bytes of reader.read(piece)) {
			samples.push(...bytes.filter((_, at) => at % 2 === 0));
		}
	};
	for (let at = 0; at < file.length; at += size) {
		add(Uint8Array.from(file.slice(at, at + size)));
	}
	add();
	const { isOpen, decoded } = decoder;
	reader.close();
	equal(decoder.isOpen, false);
	return { samples, sampleRate: reader.sampleRate, decoded, isOpen };
}

const tag = (size: number, flags = 0): number[] => [
	...[0x49, 0x44, 0x33, 4, 0, flags, 0, 0, size >> 7, size & 127],
	...Array.from({ length: size }, () => 0xff),
];

const FRAMES = [frame(1), frame(2), frame(3)].flat();

export default suite("MP3 files", {
	"give the samples and the sample rate of their frames, in whatever pieces they come"() {
		for (let size = 1; size <= FRAMES.length; size += 1) {
			const { samples, sampleRate } = read(FRAMES, size);
			equal([samples, sampleRate], [[1, 2, 3], 24_000], `pieces of ${size}`);
		}
	},
	"have frames whose length their header says, and the decoder sees the start of the next one"() {
		equal(read(FRAMES).decoded, [32, 32, 32]);
		const padded = [0xff, 0xfb, 0x92, 0x00];
		const file = [...frame(1, MPEG_1, 417), ...frame(2, padded, 418), ...frame(3, MPEG_1, 417)];
		const { samples, sampleRate, decoded } = read(file, 100);
		equal([samples, sampleRate, decoded], [[1, 2, 3], 44_100, [425, 426, 425]]);
	},
	"may begin with a tag, which is skipped"() {
		for (const size of [1, 50, 1_000]) {
			equal(read([...tag(300), ...FRAMES], size).samples, [1, 2, 3], `pieces of ${size}`);
			equal(read([...tag(300, 0x10), ...tag(0), ...FRAMES], size).samples, [1, 2, 3], `pieces of ${size}`);
		}
		const huge = [0x49, 0x44, 0x33, 4, 0, 0, 127, 127, 127, 127];
		throws(() => read(huge), /^MP3: tag of 268435455 bytes \(limit 16777216\)$/);
	},
	"may begin within a frame, and have other bytes between frames and at the end"() {
		const other = [0xff, 0xfb, 0xf0, 0, 0xff, 0xff, 7, 0xff, 0xf3, 0x14];
		for (const size of [1, 10, 1_000]) {
			const file = [...frame(0).slice(9), ...frame(1), ...frame(2), ...other, ...frame(3), ...frame(4), ...other];
			equal(read(file, size).samples, [1, 2, 3, 4], `pieces of ${size}`);
		}
	},
	"have samples that look like a header"() {
		const like = [...MPEG_2, ...MPEG_2, ...frame(2).slice(8)];
		equal(read([0, ...frame(1), ...like, ...frame(3)]).samples, [1, 0xff, 3]);
		equal(read([0, ...MPEG_2, 0, ...FRAMES]).samples, [1, 2, 3]);
	},
	"are played without frames that cannot be decoded, or have another sample rate"() {
		equal(read([...frame(1), ...frame(9), ...frame(3)]).samples, [1, 3]);
		equal(read([...FRAMES, ...frame(4, MPEG_1, 417), ...frame(5), ...frame(6)]).samples, [1, 2, 3, 5, 6]);
	},
	"are given up after 65,536 bytes without a frame, however those come"() {
		const reason = /^neither a WAV nor an MP3 file: no frame within 65536 bytes$/;
		const broken = frame(9);
		const file = new Uint8Array(66_000);
		file.set(FRAMES);
		for (const size of [1_000, 70_000]) {
			throws(() => read(new Uint8Array(70_000).fill(0xff), size), reason);
			throws(
				() =>
					read(
						new Uint8Array(70_000).map((_, at) => broken[at % broken.length] as number),
						size,
					),
				reason,
			);
			throws(() => read(file, size), reason);
		}
	},
	"of other layers, versions, free format or reserved values have no frame"() {
		for (const header of [
			[0xff, 0xfd, 0x90, 0],
			[0xff, 0xeb, 0x90, 0],
			[0xff, 0xfb, 0x00, 0],
			[0xff, 0xfb, 0xf0, 0],
			[0xff, 0xfb, 0x9c, 0],
			[0xff, 0xdb, 0x90, 0],
		]) {
			const file = [...frame(1, header, 417), ...frame(2, header, 417)];
			throws(() => read(file), /^neither a WAV nor an MP3 file$/);
		}
	},
	"may be WAV, by their first bytes: then no decoder is opened"() {
		const file = wavFile([1, 0, 2, 0], { sampleRate: 22_050 });
		for (const size of [1, 7, file.length]) {
			const { samples, sampleRate, isOpen } = read(file, size);
			equal([samples, sampleRate, isOpen], [[1, 2], 22_050, false], `pieces of ${size}`);
		}
	},
	"that end early lack the frame that is cut off"() {
		equal(read(FRAMES.slice(0, 60)).samples, [1, 2]);
		throws(() => read(FRAMES.slice(0, 8)), /^neither a WAV nor an MP3 file$/);
	},
});
