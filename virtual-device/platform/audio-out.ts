import type { AudioOutOptions } from "../../src/sound/player/played-sound.js";
import { toBuffer } from "./arrivals.js";
import { receive, send } from "./bridge.js";

const open = new Map<number, AudioOut>();
let lastId = 0;

/** Stands in for ECMA-419's audio out (`embedded:io/audio/out`), for 16 bits and one channel: Node plays. */
export class AudioOut {
	readonly #id: number;
	readonly #options: AudioOutOptions;
	#volume = 1;
	#writable = 0;

	constructor(options: AudioOutOptions) {
		lastId += 1;
		this.#id = lastId;
		this.#options = options;
	}

	get volume(): number {
		return this.#volume;
	}

	set volume(volume: number) {
		this.#volume = volume;
		send(["audio.volume", this.#id, volume]);
	}

	start(): void {
		open.set(this.#id, this);
		send(["audio.start", this.#id, this.#options.sampleRate, this.#volume]);
	}

	write(samples: Uint8Array): void {
		if (samples.byteLength > this.#writable || samples.byteLength % 2 !== 0) {
			throw new Error(`${samples.byteLength} bytes of samples written where ${this.#writable} may be`);
		}
		this.#writable -= samples.byteLength;
		send(["audio.write", this.#id], toBuffer(samples));
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
