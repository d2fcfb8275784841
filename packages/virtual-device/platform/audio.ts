import type { AudioOutOptions } from "src/sound/played-sound";
import type { AudioInOptions } from "src/sound/recording";
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

	/** @internal Called when Node has room for this many bytes. */
	writable(bytes: number): void {
		this.#writable = bytes;
		this.#options.onWritable(bytes);
	}
}

/** Stands in for ECMA-419's audio in (`embedded:io/audio/in`), for 16 bits and one channel: Node hears. */
export class AudioIn {
	#id = 0;
	readonly #options: AudioInOptions;
	#heard = new ArrayBuffer(0);

	constructor(options: AudioInOptions) {
		this.#options = options;
	}

	start(): void {
		this.#id = register(this);
		send(["microphone.open", this.#id]);
	}

	/** All samples that have arrived. */
	read(): ArrayBuffer {
		return this.#heard;
	}

	close(): void {
		if (forget(this.#id)) {
			send(["microphone.close", this.#id]);
		}
	}

	/** @internal Called when samples have arrived. */
	samples(bytes: ArrayBuffer): void {
		this.#heard = bytes;
		this.#options.onReadable(bytes.byteLength);
	}
}

/** Maximum number of queued blocks, as in src/sound/opus-thread.c. */
const MAX_BLOCKS = 40;

/** Stands in for `src/sound/opus-threads`: Node runs libopus, and sends one result at a time. */
export class OpusThread {
	readonly #id = register(this);
	#waiting = 0;
	#result: ArrayBuffer | undefined;
	#isComplete = false;
	#bad = 0;
	#error: Error | undefined;

	constructor(sampleRate: number, frame: number, prebuffer?: number) {
		send(["opus.open", this.#id, sampleRate, frame, prebuffer ?? null]);
	}

	write(block: Uint8Array): boolean {
		const hasRoom = this.#waiting < MAX_BLOCKS;
		if (hasRoom) {
			this.#waiting += 1;
			send(["opus.write", this.#id, "block"], block);
		}
		return hasRoom;
	}

	complete(): void {
		this.#isComplete = true;
		send(["opus.write", this.#id, "complete"]);
	}

	/** @throws Error if Node cannot open the codec, for example at a sample rate that Opus lacks */
	read(): ArrayBuffer | undefined | null {
		if (this.#error !== undefined) {
			throw this.#error;
		}
		const result = this.#result;
		if (result === undefined) {
			return this.#isComplete && this.#waiting === 0 ? null : undefined;
		}
		this.#result = undefined;
		send(["opus.write", this.#id, "next"]);
		return result;
	}

	close(): number {
		if (forget(this.#id)) {
			send(["opus.close", this.#id]);
		}
		return this.#bad;
	}

	/** @internal */
	error(message: string): void {
		this.#error = new Error(message);
	}

	/** @internal A block was decoded or encoded. `bad` counts the blocks that could not be. */
	result(bad: number, bytes: ArrayBuffer): void {
		this.#waiting -= 1;
		this.#bad = bad;
		this.#result = bytes;
	}
}
