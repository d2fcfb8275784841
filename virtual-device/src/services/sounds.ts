import type { Deliver, Service } from "./service.js";

/**
 * The current output of a virtual device's speaker: samples of 16 bits, low byte first, one channel, as loud as they
 * are heard.
 */
export interface PlayedSamples {
	/** Hertz. */
	readonly sampleRate: number;
	readonly samples: Buffer;
}

interface Output {
	readonly sampleRate: number;
	/** 0 to 1. */
	volume: number;
	readonly clock: NodeJS.Timeout;
}

/** The audio out asks for samples this often: milliseconds. */
const PERIOD = 20;

/** Plays for the firmware, in real time: samples that it does not send in time are silence, as on a board. */
export class Sounds implements Service {
	readonly prefix = "audio";
	readonly #deliver: Deliver;
	readonly #onSamples: (played: PlayedSamples) => void;
	readonly #onEnd: () => void;
	readonly #outputs = new Map<number, Output>();

	/** @param onEnd called when the firmware has closed an output */
	constructor(deliver: Deliver, onSamples: (played: PlayedSamples) => void, onEnd: () => void) {
		this.#deliver = deliver;
		this.#onSamples = onSamples;
		this.#onEnd = onEnd;
	}

	take(kind: string, args: readonly unknown[], bytes: Uint8Array = new Uint8Array(0)): void {
		const id = args[0] as number;
		const output = this.#outputs.get(id);
		if (kind === "start") {
			this.#start(id, args[1] as number, args[2] as number);
		} else if (kind === "volume" && output !== undefined) {
			output.volume = args[1] as number;
		} else if (kind === "write" && output !== undefined) {
			this.#onSamples({ sampleRate: output.sampleRate, samples: scaled(bytes, output.volume) });
		} else if (kind === "close") {
			clearInterval(output?.clock);
			this.#outputs.delete(id);
			this.#onEnd();
		}
	}

	close(): void {
		for (const { clock } of this.#outputs.values()) {
			clearInterval(clock);
		}
		this.#outputs.clear();
	}

	#start(id: number, sampleRate: number, volume: number): void {
		const bytes = 2 * Math.round((sampleRate * PERIOD) / 1_000);
		const clock = setInterval(() => this.#deliver({ header: ["audio.writable", id, bytes] }), PERIOD);
		this.#outputs.set(id, { sampleRate, volume, clock });
	}
}

/** @param volume 0 to 1 */
export function scaled(bytes: Uint8Array, volume: number): Buffer {
	const samples = Buffer.from(bytes);
	for (let at = 0; at + 1 < samples.byteLength; at += 2) {
		samples.writeInt16LE(Math.round(samples.readInt16LE(at) * volume), at);
	}
	return samples;
}
