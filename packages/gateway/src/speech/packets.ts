import { setImmediate } from "node:timers/promises";
import pLimit, { type LimitFunction } from "p-limit";
import { openOpusEncoder } from "../../../xs-mcp/src/build/opus.js";
import { SPOKEN_AUDIO } from "../devices/hello.js";
import { makeResampler } from "./resample.js";
import type { Sound } from "./wav.js";

const RATE = SPOKEN_AUDIO.sample_rate;

const FRAME = (RATE * SPOKEN_AUDIO.frame_duration) / 1_000;

/**
 * Encodes a sound as packets of {@link SPOKEN_AUDIO}, each when it is wanted; silence fills the last one. Rejects with an
 * Error if the encoder is not installed.
 */
async function* encodePackets({ sampleRate, samples }: Sound, turns: LimitFunction): AsyncGenerator<Uint8Array, void> {
	const encoder = await openOpusEncoder(RATE, SPOKEN_AUDIO.frame_duration);
	try {
		const aligned = new Int16Array(Uint8Array.from(samples).buffer);
		const resampler = makeResampler(aligned, sampleRate, RATE);
		for (let at = 0; at < resampler.length; at += FRAME) {
			const frame = new Int16Array(FRAME);
			frame.set(resampler.read(at, Math.min(at + FRAME, resampler.length)));
			yield encoder.encode(frame);
			// Calls and devices come between two packets of any texts, also if a reader is late.
			await turns(() => setImmediate());
		}
	} finally {
		encoder.free();
	}
}

/** Packets of a sound for several readers: each is encoded once, when the first reader wants it. */
export interface SharedPackets extends AsyncIterable<Uint8Array> {
	/** Frees the encoder: readers get the packets that are encoded already, then the end. */
	close(): Promise<void>;
}

/**
 * Encodes the first packet. Rejects with an Error if the encoder is not installed.
 *
 * @param turns limits all sounds together to one packet in a turn of the event loop
 */
export async function sharePackets(sound: Sound, turns = pLimit(1)): Promise<SharedPackets> {
	const source = encodePackets(sound, turns);
	const packets = [source.next()];
	await packets[0];
	return {
		async *[Symbol.asyncIterator]() {
			for (let index = 0; ; index += 1) {
				packets[index] ??= source.next();
				const { done, value } = (await packets[index]) as IteratorResult<Uint8Array, void>;
				if (done) {
					return;
				}
				yield value;
			}
		},
		async close() {
			await source.return();
		},
	};
}
