import { resample } from "xs-mcp-gateway/wav";

/** Hertz of what it hears. */
export const MICROPHONE_RATE = 16_000;

/** Samples that may wait to be heard: five minutes. */
const MAX_SAMPLES = 300 * MICROPHONE_RATE;

/** Samples of a person's microphone that wait: 300 ms, for a network and timers that are late. Older ones are dropped. */
const MAX_LIVE = 0.3 * MICROPHONE_RATE;

/** The input of a device's microphone: a person's microphone while it is on, or speech that was set before; otherwise silence. */
export class Microphone {
	readonly #said = new SampleQueue();
	/** A person's microphone, which hears also while the device does not listen. */
	#live: SampleQueue | undefined;
	#hasSaid = false;
	isMuted = false;

	/** Whether there is something to hear at all: until then the device records nothing. */
	get isConnected(): boolean {
		return this.#hasSaid || this.#live !== undefined;
	}

	/** @throws RangeError if too much waits to be heard */
	hear(samples: Int16Array, sampleRate: number): void {
		const piece = resample(samples, sampleRate, MICROPHONE_RATE);
		if (this.#said.length + piece.length > MAX_SAMPLES) {
			throw new RangeError(`microphone: more than ${MAX_SAMPLES / MICROPHONE_RATE} s of sound wait`);
		}
		this.#said.add(piece);
		this.#hasSaid = true;
	}

	/** @param samples of {@link MICROPHONE_RATE}, as a person's microphone records them; undefined: it was switched off */
	hearLive(samples: Int16Array | undefined): void {
		if (samples === undefined) {
			this.#live = undefined;
			return;
		}
		this.#live ??= new SampleQueue();
		this.#live.add(samples);
		if (this.#live.length > MAX_LIVE) {
			this.#live.take(this.#live.length - MAX_LIVE);
		}
	}

	/** The next samples; silence while it is muted. */
	take(count: number): Int16Array {
		const taken = (this.#live ?? this.#said).take(count);
		return this.isMuted ? taken.fill(0) : taken;
	}
}

/** Samples that wait, in the order in which they came. */
export class SampleQueue {
	#pieces: Int16Array[] = [];
	length = 0;

	add(samples: Int16Array): void {
		this.#pieces.push(samples);
		this.length += samples.length;
	}

	/** The next samples. Zeros follow if fewer wait. */
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
			this.length -= piece.length;
			if (piece.length === first.length) {
				this.#pieces.shift();
			} else {
				this.#pieces[0] = first.subarray(piece.length);
			}
		}
		return taken;
	}
}
