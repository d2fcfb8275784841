import { type OpusEncoder, type OpusRate, openOpusDecoder, openOpusEncoder } from "xs-mcp/build/opus";
import { resample } from "xs-mcp-gateway/wav";
import type { Environment } from "../environment.js";
import type { Deliver, Handlers, Service } from "./service.js";
import { Playout, scaled } from "./sounds.js";

/**
 * Sample rate of the microphone, Hz.
 *
 * @internal exported for a test
 */
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

	/**
	 * Hears a person's microphone, instead of speech that was set before.
	 *
	 * @param samples of {@link MICROPHONE_RATE}, as it records them; undefined: it was switched off
	 */
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

/** Interval at which the speaker asks for samples, ms. */
const PERIOD = 20;

/** Duration of a recorded packet, ms. */
const RECORDED = 60;

/** Timestamps of played packets that wait for a recorded one, as on chips. */
const MAX_ECHOES = 3;

interface Played {
	readonly id: number;
	readonly playout: Playout;
	readonly stop: () => void;
	/** 0 to 1. */
	loudness: number;
}

/** Decodes and plays, records and encodes for the firmware, in real time. */
export function openCodec(deliver: Deliver, { events, microphone }: Environment): Service {
	let played: Played | undefined;
	let recording: { readonly encoder: OpusEncoder; readonly stop: () => void } | undefined;
	let isClosed = false;
	/** Timestamps of packets that were played and are not yet reported, the oldest first. */
	let echoes: number[] = [];
	/** Opening the codec takes a while: later messages wait for it. */
	let last: Promise<void> = Promise.resolve();
	const log = (message: string): void => void events.emit("trace", `codec: ${message}`);
	const stopPlaying = (): void => {
		if (played !== undefined) {
			const { id, playout, stop } = played;
			played = undefined;
			stop();
			playout.close();
			events.emit("silence");
			deliver({ header: ["codec.ended", id] });
		}
	};
	const stopRecording = (): void => {
		recording?.stop();
		recording?.encoder.free();
		recording = undefined;
	};
	const stop = (): void => {
		stopPlaying();
		stopRecording();
	};
	const handlers: Handlers = {
		async begin([id, sampleRate, duration]: [number, OpusRate, number]) {
			stopPlaying();
			echoes = [];
			const playout = new Playout(await openOpusDecoder(sampleRate), (sampleRate * duration) / 1_000);
			const count = (sampleRate * PERIOD) / 1_000;
			/** Decoded, and not played yet. */
			const waiting = new SampleQueue();
			const playPeriod = (): void => {
				while (waiting.length < count) {
					const before = playout.waiting;
					const next = playout.next();
					if (playout.waiting < before) {
						deliver({ header: ["codec.taken", id] });
					}
					if (next === undefined) {
						break;
					}
					// A decoder may use its buffer again.
					waiting.add(next.slice());
					if (playout.timestamp > 0 && echoes.push(playout.timestamp) > MAX_ECHOES) {
						echoes.shift();
					}
				}
				const samples = waiting.take(Math.min(count, waiting.length));
				if (samples.length > 0) {
					const bytes = new Uint8Array(samples.buffer);
					events.emit("samples", { sampleRate, samples: scaled(bytes, begun.loudness) });
				} else if (playout.isOver) {
					stopPlaying();
				}
			};
			const begun: Played = { id, playout, stop: repeat(PERIOD, playPeriod), loudness: 1 };
			played = begun;
		},
		play([loudness, timestamp]: [number, number], packet) {
			if (played !== undefined) {
				played.loudness = loudness;
				played.playout.add(packet, timestamp);
			}
		},
		end: () => played?.playout.complete(),
		stop: stopPlaying,
		async record([isOn]: [boolean]) {
			stopRecording();
			if (isOn) {
				const encoder = await openOpusEncoder(MICROPHONE_RATE, RECORDED);
				let isConnected = false;
				const recordPacket = (): void => {
					isConnected ||= microphone.isConnected;
					if (isConnected) {
						const samples = microphone.take((MICROPHONE_RATE * RECORDED) / 1_000);
						deliver({ header: ["codec.packet", echoes.shift() ?? 0], bytes: encoder.encode(samples) });
					}
				};
				recording = { encoder, stop: repeat(RECORDED, recordPacket) };
			}
		},
	};
	return {
		prefix: "codec",
		take(kind, args, bytes = new Uint8Array(0)) {
			last = last
				.then(() => (isClosed ? undefined : handlers[kind]?.(args as never, bytes)))
				.catch(({ message }: Error) => log(message));
		},
		close() {
			isClosed = true;
			stop();
			// The codec may be opening.
			void last.then(stop);
		},
	};
}

/** Missed ticks to catch up on when the process was busy. More are skipped. */
const MAX_LATE = 50;

/**
 * Calls back regularly, as often as time has passed: a late timer is made up for.
 *
 * @param period milliseconds
 * @returns stops it
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
