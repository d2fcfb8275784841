import { type OpusRate, openOpusDecoder, openOpusEncoder } from "xs-mcp/build/opus";
import { resample } from "xs-mcp-gateway/wav";
import type { Environment } from "../environment.js";
import type { Open } from "./service.js";
import { PERIOD, repeat } from "./sounds.js";

/**
 * Sample rate of the microphone, Hz.
 *
 * @internal exported for a test
 */
export const MICROPHONE_RATE = 16_000;

/** Maximum number of queued samples: five minutes. */
const MAX_SAMPLES = 300 * MICROPHONE_RATE;

/** Queued samples of a person's microphone: 300 ms, because network and timers may be late. Older ones are dropped. */
const MAX_LIVE = 0.3 * MICROPHONE_RATE;

/** The input of a device's microphone: a person's microphone while it is on, or speech that was set before; otherwise silence. */
export class Microphone {
	readonly #said = new SampleQueue();
	/** A person's microphone, which also records while the device does not listen. */
	#live: SampleQueue | undefined;
	#hasSaid = false;
	isMuted = false;

	/** Whether there has been any input. Until then the device records nothing. */
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
	 * Takes samples of a person's microphone, which replaces speech that was set before.
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

class SampleQueue {
	#waiting: Int16Array = new Int16Array(0);

	get length(): number {
		return this.#waiting.length;
	}

	add(samples: Int16Array): void {
		const all = new Int16Array(this.length + samples.length);
		all.set(this.#waiting);
		all.set(samples, this.length);
		this.#waiting = all;
	}

	/** Takes the next samples, and appends zeros if there are fewer. */
	take(count: number): Int16Array {
		const taken = new Int16Array(count);
		taken.set(this.#waiting.subarray(0, count));
		this.#waiting = this.#waiting.subarray(count);
		return taken;
	}
}

/** Records for the firmware, in real time, once the microphone has input. */
export const hearThrough =
	({ microphone }: Environment): Open =>
	(_args, tell) => {
		let isConnected = false;
		const destroy = repeat(PERIOD, () => {
			isConnected ||= microphone.isConnected;
			if (isConnected) {
				tell("samples", [], bytesOf(microphone.take((MICROPHONE_RATE * PERIOD) / 1_000)));
			}
		});
		return { close: destroy, destroy };
	};

/** A copy: a codec may use its buffer again. */
const bytesOf = ({ buffer, byteOffset, byteLength }: Int16Array | Uint8Array): Uint8Array =>
	new Uint8Array(buffer, byteOffset, byteLength).slice();

interface Codec {
	convert(block: Uint8Array): Int16Array | Uint8Array;
	free(): void;
}

async function openDecoder(sampleRate: OpusRate, frame: number, onBad: () => void): Promise<Codec> {
	const decoder = await openOpusDecoder(sampleRate);
	return {
		/** Decodes a packet. Conceals one that was lost, and is empty, or that is not Opus. */
		convert(packet) {
			try {
				return packet.byteLength > 0 ? decoder.decode(packet) : decoder.decodePacketLoss(frame);
			} catch {
				onBad();
				return decoder.decodePacketLoss(frame);
			}
		},
		free: () => decoder.free(),
	};
}

async function openEncoder(sampleRate: OpusRate, frame: number): Promise<Codec> {
	const encoder = await openOpusEncoder(sampleRate, (frame * 1_000) / sampleRate);
	return {
		convert: (samples) => encoder.encode(new Int16Array(Uint8Array.from(samples).buffer)),
		free: () => encoder.free(),
	};
}

/**
 * Decodes or encodes for the firmware as src/sound/opus-thread.c does: it makes the next result once the previous one was
 * read, and a decoder starts when enough packets wait, even after a gap.
 */
export const openOpus: Open = (args, tell) => {
	const [sampleRate, frame, prebuffer] = args as [OpusRate, number, number | null];
	const blocks: Uint8Array[] = [];
	let bad = 0;
	let codec: Codec | undefined;
	let isWorking = false;
	let isComplete = false;
	let isRead = true;
	const opened = prebuffer === null ? openEncoder(sampleRate, frame) : openDecoder(sampleRate, frame, () => (bad += 1));
	const work = (): void => {
		isWorking = blocks.length > 0 && (isWorking || isComplete || blocks.length >= (prebuffer ?? 0));
		if (codec !== undefined && isRead && isWorking) {
			isRead = false;
			const result = codec.convert(blocks.shift() as Uint8Array);
			tell("result", [bad], bytesOf(result));
		}
	};
	const close = (): void => {
		blocks.length = 0;
		codec = undefined;
		void opened.then(
			(each) => each.free(),
			() => {},
		);
	};
	opened.then(
		(each) => {
			codec = each;
			work();
		},
		({ message }: Error) => tell("error", [message]),
	);
	return {
		write([what], block) {
			if (what === "block") {
				blocks.push(block);
			}
			isComplete ||= what === "complete";
			isRead ||= what === "next";
			work();
		},
		close,
		destroy: close,
	};
};
