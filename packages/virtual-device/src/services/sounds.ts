import type { OpusDecoder } from "xs-mcp/build/opus";
import { encodeWav } from "xs-mcp-gateway/wav";
import type { Environment } from "../environment.js";
import type { Open } from "./service.js";

/** Packets that have to wait before the first is played, and again after a gap. */
const PREBUFFER = 2;

/** Packets in a row that are concealed. After that it is silent. */
const MAX_CONCEALED = 3;

/**
 * A jitter buffer: takes packets as they come, and has samples as they are played. Lost and late packets are concealed by the
 * decoder. It has no timer: the caller that takes the samples sets the pace.
 */
export class Playout {
	readonly #decoder: OpusDecoder;
	readonly #frame: number;
	/** An empty packet is one that was lost. */
	readonly #packets: { readonly packet: Uint8Array; readonly timestamp: number }[] = [];
	#isPlaying = false;
	#isComplete = false;
	#concealed = 0;
	/** Timestamp of the packet whose samples were returned last; 0 for none. */
	timestamp = 0;

	/** @param frame samples of a packet, for those that are lost */
	constructor(decoder: OpusDecoder, frame: number) {
		this.#decoder = decoder;
		this.#frame = frame;
	}

	/** Packets that wait to be played. */
	get waiting(): number {
		return this.#packets.length;
	}

	get isOver(): boolean {
		return this.#isComplete && this.#packets.length === 0;
	}

	/**
	 * @param packet empty: one that was lost
	 * @param timestamp the backend's, 0 for none
	 */
	add(packet: Uint8Array, timestamp = 0): void {
		this.#packets.push({ packet, timestamp });
	}

	/** No packets follow. */
	complete(): void {
		this.#isComplete = true;
	}

	/** Nothing is played any more. */
	close(): void {
		this.#decoder.free();
	}

	/** The samples of one more packet: undefined while it waits for packets, and once it is over. */
	next(): Int16Array | undefined {
		this.#isPlaying ||= this.#isComplete || this.#packets.length >= PREBUFFER;
		if (!this.#isPlaying || this.isOver) {
			return undefined;
		}
		const { packet, timestamp = 0 } = this.#packets.shift() ?? {};
		this.timestamp = timestamp;
		if (packet === undefined || packet.byteLength === 0) {
			return this.#conceal();
		}
		try {
			const samples = this.#decoder.decode(packet);
			this.#concealed = 0;
			return samples;
		} catch {
			return this.#conceal();
		}
	}

	/** After a while it is silent, and waits for packets as at the start. */
	#conceal(): Int16Array | undefined {
		this.#concealed += 1;
		if (this.#concealed <= MAX_CONCEALED) {
			return this.#decoder.decodePacketLoss(this.#frame);
		}
		this.#isPlaying = this.#packets.length > 0;
		return new Int16Array(this.#frame);
	}
}

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

/** Plays for the firmware, in real time: samples that it does not send in time are silence, as on a board. */
export const playSounds =
	({ events }: Environment): Open =>
	(args, tell) => {
		const [sampleRate] = args as [number];
		const bytes = 2 * Math.round((sampleRate * PERIOD) / 1_000);
		const clock = setInterval(() => tell("writable", [bytes]), PERIOD);
		const destroy = (): void => clearInterval(clock);
		return {
			write([volume], samples) {
				events.emit("samples", { sampleRate, samples: scaled(samples, volume as number) });
			},
			close() {
				destroy();
				events.emit("silence");
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

/** Longest sound that is kept: 60 s at 24 kHz. A longer one is cut into several. */
const MAX_BYTES = 60 * 24_000 * 2;

/**
 * Assembles the sounds that a device plays.
 *
 * @param onSound called with one WAV file for each sound
 */
export function recordSounds(onSound: (wav: Buffer) => void) {
	let played = { sampleRate: 0, pieces: [] as Buffer[], bytes: 0 };
	const end = (): void => {
		const { sampleRate, pieces, bytes } = played;
		if (bytes > 0) {
			onSound(encodeWav({ sampleRate, samples: Buffer.concat(pieces) }));
		}
		played = { sampleRate, pieces: [], bytes: 0 };
	};
	return {
		add({ sampleRate, samples }: PlayedSamples): void {
			if (sampleRate !== played.sampleRate || played.bytes + samples.byteLength > MAX_BYTES) {
				end();
				played.sampleRate = sampleRate;
			}
			played.pieces.push(samples);
			played.bytes += samples.byteLength;
		},
		end,
	};
}
