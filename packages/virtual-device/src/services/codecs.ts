import { type OpusEncoder, type OpusRate, openOpusDecoder, openOpusEncoder } from "../../../xs-mcp/src/build/opus.js";
import type { Environment } from "../environment.js";
import { MICROPHONE_RATE, SampleQueue } from "./microphone.js";
import { Playout } from "./playout.js";
import type { Deliver, Service } from "./service.js";
import { scaled } from "./sounds.js";

/** The speaker asks for samples this often: milliseconds. */
const PERIOD = 20;

/** Milliseconds of a recorded packet. */
const RECORDED = 60;

/** Packets that wait before the first is played. */
const PREBUFFER = 2;

/** A sound that is being played. */
interface Played {
	readonly id: number;
	readonly sampleRate: number;
	readonly playout: Playout;
	readonly stop: () => void;
	/** Decoded, and not played yet. */
	readonly waiting: SampleQueue;
}

/** Decodes and plays, records and encodes for the firmware, in real time. */
export class Codecs implements Service {
	readonly prefix = "codec";
	readonly #deliver: Deliver;
	readonly #environment: Environment;
	#played: Played | undefined;
	#recording: { readonly encoder: OpusEncoder; readonly stop: () => void } | undefined;
	/** 0 to 1. */
	#loudness = 1;
	#hasDropped = false;
	/** Opening the codec takes a while: what comes next waits for that. */
	#last: Promise<void> = Promise.resolve();
	#isClosed = false;

	constructor(deliver: Deliver, environment: Environment) {
		this.#deliver = deliver;
		this.#environment = environment;
	}

	take(kind: string, args: readonly unknown[], bytes: Uint8Array = new Uint8Array(0)): void {
		this.#last = this.#last
			.then(() => (this.#isClosed ? undefined : this.#act(kind, args as number[], bytes)))
			.catch(({ message }: Error) => this.#log(message));
	}

	close(): void {
		this.#isClosed = true;
		this.#stop();
		// The codec may be opening.
		void this.#last.then(() => this.#stop());
	}

	#log(message: string): void {
		this.#environment.events.emit("trace", `codec: ${message}`);
	}

	#stop(): void {
		this.#stopPlaying();
		this.#stopRecording();
	}

	async #act(kind: string, [first = 0, rate = 0, duration = 0]: readonly number[], bytes: Uint8Array): Promise<void> {
		if (kind === "begin") {
			await this.#begin(first, rate as OpusRate, duration);
		} else if (kind === "play") {
			this.#play(bytes, first);
		} else if (kind === "end") {
			this.#played?.playout.complete();
		} else if (kind === "stop") {
			this.#stopPlaying();
		} else if (kind === "record") {
			this.#stopRecording();
			if (first) {
				await this.#record();
			}
		}
	}

	async #begin(id: number, sampleRate: OpusRate, duration: number): Promise<void> {
		this.#stopPlaying();
		this.#hasDropped = false;
		const decoder = await openOpusDecoder(sampleRate);
		const playout = new Playout({ decoder, frame: (sampleRate * duration) / 1_000, prebuffer: PREBUFFER });
		const stop = repeat(PERIOD, () => this.#playPeriod(played));
		const played: Played = { id, sampleRate, playout, stop, waiting: new SampleQueue() };
		this.#played = played;
	}

	#play(packet: Uint8Array, loudness: number): void {
		this.#loudness = loudness;
		if (this.#played?.playout.add(packet) === false) {
			if (!this.#hasDropped) {
				this.#log("packets dropped: too many wait to be played");
			}
			this.#hasDropped = true;
		}
	}

	#playPeriod(played: Played): void {
		const { sampleRate, playout, waiting } = played;
		const count = (sampleRate * PERIOD) / 1_000;
		while (waiting.length < count) {
			const next = playout.next();
			if (next === undefined) {
				break;
			}
			// A decoder may use its buffer again.
			waiting.add(next.slice());
		}
		const samples = waiting.take(Math.min(count, waiting.length));
		if (samples.length > 0) {
			this.#environment.events.emit("samples", {
				sampleRate,
				samples: scaled(new Uint8Array(samples.buffer), this.#loudness),
			});
		} else if (playout.isOver) {
			this.#stopPlaying();
		}
	}

	#stopPlaying(): void {
		const played = this.#played;
		if (played !== undefined) {
			this.#played = undefined;
			played.stop();
			played.playout.close();
			this.#environment.events.emit("silence");
			this.#deliver({ header: ["codec.ended", played.id] });
		}
	}

	async #record(): Promise<void> {
		const { microphone } = this.#environment;
		const encoder = await openOpusEncoder(MICROPHONE_RATE, RECORDED);
		let isConnected = false;
		const stop = repeat(RECORDED, () => {
			isConnected ||= microphone.isConnected;
			if (isConnected) {
				const samples = microphone.take((MICROPHONE_RATE * RECORDED) / 1_000);
				this.#deliver({ header: ["codec.packet"], bytes: encoder.encode(samples) });
			}
		});
		this.#recording = { encoder, stop };
	}

	#stopRecording(): void {
		this.#recording?.stop();
		this.#recording?.encoder.free();
		this.#recording = undefined;
	}
}

/** Ticks that are made up for when the process was busy. More are left out. */
const MAX_LATE = 50;

/**
 * Calls back regularly, as often as time has passed: a late timer is made up for.
 *
 * @param period milliseconds
 * @returns ends that
 */
function repeat(period: number, onTick: () => void): () => void {
	let last = performance.now();
	let isStopped = false;
	const timer = setInterval(() => {
		const now = performance.now();
		last = Math.max(last, now - MAX_LATE * period);
		while (now - last >= period && !isStopped) {
			last += period;
			onTick();
		}
	}, period);
	return () => {
		isStopped = true;
		clearInterval(timer);
	};
}
