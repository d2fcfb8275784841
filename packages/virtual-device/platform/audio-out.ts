import type { AudioOutOptions } from "src/sound/played-sound";
import { forget, register, send } from "./bridge.js";

/** Stands in for ECMA-419's audio out (`embedded:io/audio/out`), for 16 bits and one channel: Node plays. */
export class AudioOut {
	#id = 0;
	readonly #options: AudioOutOptions;
	/** 0 to 1. */
	volume = 1;
	#writable = 0;

	constructor(options: AudioOutOptions) {
		this.#options = options;
	}

	start(): void {
		this.#id = register(this);
		send(["audio.open", this.#id, this.#options.sampleRate]);
	}

	write(samples: Uint8Array): void {
		if (samples.byteLength > this.#writable || samples.byteLength % 2 !== 0) {
			throw new Error(`${samples.byteLength} bytes of samples written where ${this.#writable} may be`);
		}
		this.#writable -= samples.byteLength;
		send(["audio.write", this.#id, this.volume], samples);
	}

	close(): void {
		if (forget(this.#id)) {
			send(["audio.close", this.#id]);
		}
	}

	/** @internal Node has room for this much. */
	writable(bytes: number): void {
		this.#writable = bytes;
		this.#options.onWritable(bytes);
	}
}
