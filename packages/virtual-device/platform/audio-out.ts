import type { AudioOutOptions } from "src/sound/played-sound";
import { receive, send } from "./bridge.js";

const open = new Map<number, AudioOut>();
let lastId = 0;

/** Stands in for ECMA-419's audio out (`embedded:io/audio/out`), for 16 bits and one channel: Node plays. */
export class AudioOut {
	readonly #id: number;
	readonly #options: AudioOutOptions;
	/** 0 to 1. */
	volume = 1;
	#writable = 0;

	constructor(options: AudioOutOptions) {
		lastId += 1;
		this.#id = lastId;
		this.#options = options;
	}

	start(): void {
		open.set(this.#id, this);
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
		if (open.delete(this.#id)) {
			send(["audio.close", this.#id]);
		}
	}

	/** @internal Node has room for this much. */
	fill(bytes: number): void {
		this.#writable = bytes;
		this.#options.onWritable(bytes);
	}
}

receive("audio.writable", ([id, bytes]) => open.get(id as number)?.fill(bytes as number));
