import type { OpusDecoder } from "../../../xs-mcp/src/build/opus.js";

interface PlayoutOptions {
	readonly decoder: OpusDecoder;
	/** Samples of a packet, for those that are lost. */
	readonly frame: number;
	/** Packets that have to wait before the first is played, and again after a gap. */
	readonly prebuffer: number;
}

/** Packets that may wait, of 60 ms: 2.4 s, as on the C++ firmware. */
const MAX_PACKETS = 40;

/** Packets in a row that are concealed. After that it is silent. */
const MAX_CONCEALED = 3;

/**
 * A jitter buffer: takes packets as they come, and has samples as they are played. Lost and late packets are concealed by the
 * decoder. It has no timer: the caller that takes the samples sets the pace.
 */
export class Playout {
	readonly #options: PlayoutOptions;
	/** Undefined: one that was lost. */
	readonly #packets: (Uint8Array | undefined)[] = [];
	#isPlaying = false;
	#isComplete = false;
	#concealed = 0;
	/** Packets that were lost, late, or could not be decoded. */
	missing = 0;

	constructor(options: PlayoutOptions) {
		this.#options = options;
	}

	/** Whether every packet was played. */
	get isOver(): boolean {
		return this.#isComplete && this.#packets.length === 0;
	}

	/**
	 * @param packet empty: one that was lost
	 * @returns false if too many wait: it is dropped
	 */
	add(packet: Uint8Array): boolean {
		if (this.#packets.length >= MAX_PACKETS) {
			return false;
		}
		this.#packets.push(packet.byteLength === 0 ? undefined : packet);
		return true;
	}

	/** No packets follow. */
	complete(): void {
		this.#isComplete = true;
	}

	/** Nothing is played any more. */
	close(): void {
		this.#options.decoder.free();
	}

	/** The samples of one more packet: undefined while it waits for packets, and once it is over. */
	next(): Int16Array | undefined {
		this.#isPlaying ||= this.#isComplete || this.#packets.length >= this.#options.prebuffer;
		if (!this.#isPlaying || this.isOver) {
			return undefined;
		}
		if (this.#packets.length === 0) {
			return this.#conceal();
		}
		const packet = this.#packets.shift();
		return packet === undefined ? this.#conceal() : this.#decode(packet);
	}

	#decode(packet: Uint8Array): Int16Array | undefined {
		try {
			const samples = this.#options.decoder.decode(packet);
			this.#concealed = 0;
			return samples;
		} catch {
			return this.#conceal();
		}
	}

	/** After a while it is silent, and waits for packets as at the start. */
	#conceal(): Int16Array | undefined {
		const { decoder, frame } = this.#options;
		this.missing += 1;
		this.#concealed += 1;
		if (this.#concealed <= MAX_CONCEALED) {
			return decoder.decodePacketLoss(frame);
		}
		this.#isPlaying = this.#packets.length > 0;
		return new Int16Array(frame);
	}
}
