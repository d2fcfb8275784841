import type { OpusDecoder } from "../../../toolchain/opus.js";
import { LISTENING_RATE } from "./end-of-speech.js";

/** Samples that stand for a packet that was lost: 60 ms. */
const LOST = (LISTENING_RATE * 60) / 1_000;

/** Packets of Opus as samples. Those that come before the decoder is open wait for it. */
export class DecodedPackets {
	/** Samples that there are. */
	count = 0;
	/** Packets that came early and cannot be decoded. */
	undecoded = 0;
	readonly #samples: Int16Array;
	readonly #onSamples: (samples: Int16Array) => void;
	#decoder: OpusDecoder | undefined;
	#early: Uint8Array[] = [];

	/**
	 * @param maxCount samples that are kept; further ones are dropped
	 * @param onSamples is called with those of each packet
	 */
	constructor(maxCount: number, onSamples: (samples: Int16Array) => void) {
		this.#samples = new Int16Array(maxCount);
		this.#onSamples = onSamples;
	}

	/** @throws Error if the packet is not Opus. An empty one stands for one that was lost */
	add(packet: Uint8Array): void {
		if (this.#decoder === undefined) {
			this.#early.push(packet.slice());
			return;
		}
		const decoded = packet.length === 0 ? this.#decoder.decodePacketLoss(LOST) : this.#decoder.decode(packet);
		const samples = decoded.slice(0, this.#samples.length - this.count);
		this.#samples.set(samples, this.count);
		this.count += samples.length;
		this.#onSamples(samples);
	}

	/** Decodes the packets that are waiting, and later ones. */
	open(decoder: OpusDecoder): void {
		this.#decoder = decoder;
		for (const packet of this.#early) {
			try {
				this.add(packet);
			} catch {
				this.undecoded += 1;
			}
		}
		this.#early = [];
	}

	get samples(): Int16Array {
		return this.#samples.subarray(0, this.count);
	}

	close(): void {
		this.#decoder?.free();
		this.#decoder = undefined;
	}
}
