import type { Player } from "../hardware/sound.js";

/** Hertz. */
const SAMPLE_RATE = 16_000;

/** The two tones of the chime, in Hertz, each as long as `TONE`. */
const TONES: readonly number[] = Object.freeze([880, 1_320]);

/** Samples of a tone: 0.25 s. It begins loud and fades away. */
const TONE = 4_000;

/** Samples computed at a time, to save heap. */
const PIECE = 500;

/** Half of the largest sample, so that the chime does not startle. */
const LOUDEST = 16_384;

/** Plays two short tones. Settles when they were played; rejects if another sound started or the player failed. */
export const playChime = async (player: Player): Promise<void> => {
	const sound = player.begin(SAMPLE_RATE);
	for (const frequency of TONES) {
		for (let at = 0; at < TONE; at += PIECE) {
			await sound.write(piece(frequency, at));
		}
	}
	await sound.end();
};

/** A part of a tone. @param start the number of its first sample */
const piece = (frequency: number, start: number): Uint8Array => {
	const samples = new DataView(new ArrayBuffer(PIECE * 2));
	const step = (2 * Math.PI * frequency) / SAMPLE_RATE;
	for (let at = 0; at < PIECE; at += 1) {
		const number = start + at;
		const fade = (1 - number / TONE) ** 2;
		samples.setInt16(at * 2, LOUDEST * fade * Math.sin(step * number), true);
	}
	return new Uint8Array(samples.buffer);
};
