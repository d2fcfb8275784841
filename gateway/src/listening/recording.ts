import type { AudioChannel, Session } from "xs-mcp-manager/core";
import { type OpusDecoder, openOpusDecoder } from "../../../toolchain/opus.js";
import { EndOfSpeech, LISTENING_RATE } from "./end-of-speech.js";

/** Seconds that a device listens at most. */
export const MAX_SECONDS = 30;

/** Samples that are kept. */
const MAX_SAMPLES = MAX_SECONDS * LISTENING_RATE;

/** Samples that stand for a packet that was lost: 60 ms. */
const LOST = 960;

/** Milliseconds without a packet after which speech has ended: some devices do not send silence, and Wi-Fi has gaps of a second. */
const NO_PACKETS = 2_500;

/** Why a recording has ended: the person was silent, the time was over, or the person ended it at the device. */
export type Ending = "silence" | "time" | "stopped";

export interface Recorded {
	/** 16 kHz. */
	readonly samples: Int16Array;
	readonly ended: Ending;
	/** Whether somebody has spoken. */
	readonly hasSpeech: boolean;
	/** Packets that were dropped. */
	readonly dropped: number;
}

interface RecordingOptions {
	/** 1 to 30. */
	readonly seconds: number;
	/** Whether it ends when somebody has spoken and is silent; otherwise it takes the whole time. */
	readonly untilSilence: boolean;
	readonly signal: AbortSignal;
}

/**
 * Records what a device sends while it listens.
 *
 * Rejects with an Error if the device disconnects, sends nothing that is Opus, or the signal says so.
 */
export async function record(session: Session, channel: AudioChannel, options: RecordingOptions): Promise<Recorded> {
	options.signal.throwIfAborted();
	const recording = new Recording(session, channel, options);
	try {
		recording.decodeWith(await openOpusDecoder(LISTENING_RATE));
		return await recording.recorded;
	} finally {
		recording.close();
	}
}

class Recording {
	readonly recorded: Promise<Recorded>;
	readonly #session: Session;
	readonly #channel: AudioChannel;
	readonly #options: RecordingOptions;
	/** Undefined while it opens. */
	#decoder: OpusDecoder | undefined;
	/** Packets that have come before it was open. */
	#early: Uint8Array[] = [];
	readonly #detector = new EndOfSpeech();
	readonly #droppedBefore: number;
	readonly #pieces: Int16Array[] = [];
	#count = 0;
	/** Early packets that were no Opus. */
	#undecoded = 0;
	readonly #end: NodeJS.Timeout;
	/** Runs while no packet comes. */
	#pause: NodeJS.Timeout | undefined;
	#resolve!: (recorded: Recorded) => void;
	#reject!: (error: Error) => void;

	constructor(session: Session, channel: AudioChannel, options: RecordingOptions) {
		this.#session = session;
		this.#channel = channel;
		this.#options = options;
		this.#droppedBefore = channel.dropped;
		this.recorded = new Promise((resolve, reject) => {
			this.#resolve = resolve;
			this.#reject = reject;
		});
		// It may end while the decoder opens.
		this.recorded.catch(() => {});
		this.#end = setTimeout(() => this.#ended("time"), options.seconds * 1_000);
		channel.on("packet", this.#onPacket);
		channel.on("message", this.#onMessage);
		session.on("closed", this.#onClosed);
		options.signal.addEventListener("abort", this.#onAbort, { once: true });
	}

	decodeWith(decoder: OpusDecoder): void {
		this.#decoder = decoder;
		for (const packet of this.#early) {
			try {
				this.#take(packet, decoder);
			} catch {
				this.#undecoded += 1;
			}
		}
		this.#early = [];
	}

	close(): void {
		this.#decoder?.free();
		clearTimeout(this.#end);
		clearTimeout(this.#pause);
		this.#channel.off("packet", this.#onPacket);
		this.#channel.off("message", this.#onMessage);
		this.#session.off("closed", this.#onClosed);
		this.#options.signal.removeEventListener("abort", this.#onAbort);
	}

	readonly #onPacket = (packet: Uint8Array): void => {
		if (this.#decoder === undefined) {
			this.#early.push(packet.slice());
		} else {
			this.#take(packet, this.#decoder);
		}
	};

	#take(packet: Uint8Array, decoder: OpusDecoder): void {
		const samples = packet.length === 0 ? decoder.decodePacketLoss(LOST) : decoder.decode(packet);
		const piece = samples.slice(0, MAX_SAMPLES - this.#count);
		this.#pieces.push(piece);
		this.#count += piece.length;
		this.#detector.add(piece);
		clearTimeout(this.#pause);
		if (this.#count === MAX_SAMPLES) {
			this.#ended("time");
		} else if (this.#options.untilSilence && this.#detector.hasEnded) {
			this.#ended("silence");
		} else if (this.#options.untilSilence && this.#detector.hasSpeech) {
			this.#pause = setTimeout(() => this.#ended("silence"), NO_PACKETS);
		}
	}

	readonly #onMessage = ({ type, state }: { readonly type: string; readonly state?: unknown }): void => {
		if (type === "listen" && state === "stop") {
			this.#ended("stopped");
		}
	};

	readonly #onClosed = (reason: string): void => this.#reject(new Error(`it disconnected: ${reason}`));

	readonly #onAbort = (): void => this.#reject(this.#options.signal.reason);

	#ended(ended: Ending): void {
		const dropped = this.#channel.dropped - this.#droppedBefore + this.#undecoded;
		if (this.#count > 0) {
			const samples = new Int16Array(this.#count);
			let at = 0;
			for (const piece of this.#pieces) {
				samples.set(piece, at);
				at += piece.length;
			}
			this.#resolve({ samples, ended, hasSpeech: this.#detector.hasSpeech, dropped });
		} else if (dropped > 0) {
			this.#reject(new Error(`none of the ${dropped} packets that it sent is Opus`));
		} else {
			this.#reject(new Error("it sent no sound: it may have no microphone"));
		}
	}
}
