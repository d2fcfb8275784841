import { openOpusEncoder } from "../../../toolchain/opus.js";
import { SPOKEN_AUDIO } from "../devices/hello.js";
import { resample } from "./resample.js";
import type { Sound } from "./wav.js";

/** Samples of a packet. */
const FRAME = (SPOKEN_AUDIO.sample_rate * SPOKEN_AUDIO.frame_duration) / 1_000;

/** Packets that are encoded in a turn of the event loop: about 10 ms. */
const MAX_BATCH = 4;

/** Encodes a sound as packets of {@link SPOKEN_AUDIO}; silence fills the last one. Rejects with an Error if the encoder is not installed. */
export async function encodePackets({ sampleRate, samples }: Sound): Promise<readonly Uint8Array[]> {
	const encoder = await openOpusEncoder(SPOKEN_AUDIO.sample_rate, SPOKEN_AUDIO.frame_duration);
	try {
		const aligned = new Int16Array(Uint8Array.from(samples).buffer);
		const resampled = resample(aligned, sampleRate, SPOKEN_AUDIO.sample_rate);
		const packets: Uint8Array[] = [];
		for (let at = 0; at < resampled.length; at += FRAME) {
			const frame = new Int16Array(FRAME);
			frame.set(resampled.subarray(at, at + FRAME));
			packets.push(encoder.encode(frame));
			if (packets.length % MAX_BATCH === 0) {
				await new Promise(setImmediate);
			}
		}
		return packets;
	} finally {
		encoder.free();
	}
}
