import { OggOpusReader, packetDuration } from "../../src/features/voice/ogg-opus.js";
import { OPUS_HEAD, OPUS_TAGS, oggFile } from "../doubles/ogg-file.js";
import { equal, suite, throws } from "../harness.js";

const packet = (bytes: number): Uint8Array => new Uint8Array(bytes).fill(0x58);

/** Reads a file in pieces. @returns lengths of its packets, and whether it may end there */
function read(file: Uint8Array, piece = file.byteLength) {
	const reader = new OggOpusReader();
	const lengths: number[] = [];
	for (let at = 0; at < file.byteLength; at += piece) {
		reader.add(file.slice(at, at + piece));
		for (let next = reader.next(); next !== undefined; next = reader.next()) {
			lengths.push(next.byteLength);
		}
	}
	return { lengths, isWhole: reader.isWhole };
}

export default suite("a file of Ogg Opus", {
	"has the packets of its stream, whatever the pieces in which it arrives"() {
		// 255 and 510 bytes end with a segment of no bytes, 700 has several pages.
		const file = oggFile([OPUS_HEAD, OPUS_TAGS, packet(3), packet(255), packet(700), packet(510)], 2);
		for (const piece of [1, 2, 26, 27, 28, 255, 256, file.byteLength]) {
			equal(read(file, piece), { lengths: [3, 255, 700, 510], isWhole: true });
		}
	},
	"reads one packet at a time: a fault counts only after those before it"() {
		const reader = new OggOpusReader();
		reader.add(oggFile([OPUS_HEAD, OPUS_TAGS, packet(3), packet(4), packet(4_100)]).slice());
		equal([reader.next()?.byteLength, reader.next()?.byteLength], [3, 4]);
		throws(() => reader.next(), /^Ogg: a packet of more than 4000 bytes$/);
	},
	"skips empty packets, however many"() {
		const empty = new Array(10_000).fill(packet(0));
		equal(read(oggFile([OPUS_HEAD, OPUS_TAGS, packet(3), ...empty, packet(4), packet(0)])), {
			lengths: [3, 4],
			isWhole: true,
		});
	},
	"is not whole where it ends within a packet, a page, or before its sound"() {
		const whole = oggFile([OPUS_HEAD, OPUS_TAGS, packet(300)]);
		equal(
			[whole.byteLength - 1, whole.byteLength - 310, oggFile([OPUS_HEAD]).byteLength].map(
				(end) => read(whole.subarray(0, end)).isWhole,
			),
			[false, false, false],
		);
	},
	"is rejected with the fault"() {
		const cut = oggFile([OPUS_HEAD, OPUS_TAGS, packet(700)], 1);
		/** Bytes of the last two pages. */
		const last = 28 + 255 + 28 + 190;
		for (const [file, fault] of [
			[packet(100), /^not an Ogg file$/],
			[oggFile([packet(20)]), /^Ogg: not a stream of Opus$/],
			[oggFile([OPUS_HEAD, OPUS_TAGS, packet(4_100)]), /^Ogg: a packet of more than 4000 bytes$/],
			[Uint8Array.from([...oggFile([OPUS_HEAD]), ...oggFile([OPUS_TAGS], 255, 10)]), /^Ogg: more than one stream$/],
			[
				Uint8Array.from([...cut.subarray(0, cut.byteLength - last), ...oggFile([packet(3)])]),
				/^Ogg: a packet without its end$/,
			],
		] as const) {
			throws(() => read(file), fault);
		}
	},
	"tells how long a packet lasts"() {
		const durations = [
			[0x58],
			[0x08, 1],
			[0x60, 1],
			[0xf8, 0xff, 0xfe],
			[0x80, 1],
			[0xf9, 1, 2],
			[0xfa, 1, 2],
			[0xfb, 3, 1, 2, 3],
		].map((bytes) => packetDuration(Uint8Array.from(bytes)));
		equal(durations, [60, 20, 10, 20, 2.5, 40, 40, 60]);
		for (const bytes of [[], [0xfb, 0], [0xfb], [0xfb, 7], [0x1b, 3]]) {
			throws(() => packetDuration(Uint8Array.from(bytes)), /no packet of Opus/);
		}
	},
});
