import type { Open } from "./connections.js";

/**
 * The current output of a virtual device's speaker: samples of 16 bits, low byte first, one channel, as loud as they
 * are heard.
 */
export interface PlayedSamples {
	/** Hertz. */
	readonly sampleRate: number;
	readonly samples: Buffer;
}

/** The audio out asks for samples this often: milliseconds. */
const PERIOD = 20;

/**
 * Plays for the firmware, in real time: samples that it does not send in time are silence, as on a board.
 *
 * @param onEnd called when the firmware has closed an output
 */
export const playSounds =
	(onSamples: (played: PlayedSamples) => void, onEnd: () => void): Open =>
	(args, tell) => {
		const [sampleRate] = args as [number];
		const bytes = 2 * Math.round((sampleRate * PERIOD) / 1_000);
		const clock = setInterval(() => tell("writable", [bytes]), PERIOD);
		const destroy = (): void => clearInterval(clock);
		return {
			write: ([volume], samples) => onSamples({ sampleRate, samples: scaled(samples, volume as number) }),
			close() {
				destroy();
				onEnd();
			},
			destroy,
		};
	};

/** @param volume 0 to 1 */
export function scaled(bytes: Uint8Array, volume: number): Buffer {
	const samples = Buffer.from(bytes);
	for (let at = 0; at + 1 < samples.byteLength; at += 2) {
		samples.writeInt16LE(Math.round(samples.readInt16LE(at) * volume), at);
	}
	return samples;
}
