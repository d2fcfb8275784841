import { resample } from "../../../gateway/src/speech/resample.js";

/** Hertz of what it hears. */
export const MICROPHONE_RATE = 16_000;

/** Samples that may wait to be heard: five minutes. */
const MAX_SAMPLES = 300 * MICROPHONE_RATE;

/** What a device's microphone hears, as it was said. Silence after that. */
export class Microphone {
	#pieces: Int16Array[] = [];
	#waiting = 0;
	/** Whether there is something to hear at all: without it the device records nothing. */
	isConnected = false;
	/** Whether it is switched off: what is said meanwhile is not heard. */
	isMuted = false;

	/** @throws RangeError if too much waits to be heard */
	hear(samples: Int16Array, sampleRate: number): void {
		const piece = resample(samples, sampleRate, MICROPHONE_RATE);
		if (this.#waiting + piece.length > MAX_SAMPLES) {
			throw new RangeError(`microphone: more than ${MAX_SAMPLES / MICROPHONE_RATE} s of sound wait`);
		}
		this.#pieces.push(piece);
		this.#waiting += piece.length;
		this.isConnected = true;
	}

	/** The next samples; silence while it is muted. */
	take(count: number): Int16Array {
		const taken = new Int16Array(count);
		for (let at = 0; at < count; ) {
			const first = this.#pieces[0];
			if (first === undefined) {
				break;
			}
			const piece = first.subarray(0, count - at);
			taken.set(piece, at);
			at += piece.length;
			this.#waiting -= piece.length;
			if (piece.length === first.length) {
				this.#pieces.shift();
			} else {
				this.#pieces[0] = first.subarray(piece.length);
			}
		}
		return this.isMuted ? taken.fill(0) : taken;
	}
}
