import type { AudioChannel, Session } from "xs-mcp-manager/core";
import { type OpusDecoder, openOpusDecoder } from "../../../toolchain/opus.js";
import { EndOfSpeech, LISTENING_RATE } from "./end-of-speech.js";

/** Seconds that a device listens at most. */
export const MAX_SECONDS = 30;

/** Samples that are kept. */
const MAX_SAMPLES = MAX_SECONDS * LISTENING_RATE;

/** Milliseconds without a packet after which speech has ended: some devices send no silence, and Wi-Fi has gaps of a second. */
const NO_PACKETS = 2_500;

/** Why a recording has ended: the person was silent, the time was over, or the person ended it at the device. */
export type Ending = "silence" | "time" | "stopped";

export interface Recorded {
	/** 16 kHz. */
	readonly samples: Int16Array;
	readonly ended: Ending;
	/** Whether it contains speech. */
	readonly hasSpeech: boolean;
}

interface RecordingOptions {
	/** 1 to 30. */
	readonly seconds: number;
	/** Whether it ends with the silence after speech; otherwise it takes the whole time. */
	readonly untilSilence: boolean;
	readonly signal: AbortSignal;
}

/**
 * Records the sound of a device while it listens.
 *
 * Rejects with an Error if the device disconnects, sends no Opus, or the signal is aborted, and as `begin` does.
 *
 * @param begin makes the device listen. Packets may come before it resolves
 */
export async function record(
	session: Session,
	channel: AudioChannel,
	options: RecordingOptions,
	begin: () => Promise<void>,
): Promise<Recorded> {
	options.signal.throwIfAborted();
	const recording = new Recording(session, channel, options);
	try {
		recording.packets.open(await openOpusDecoder(LISTENING_RATE));
		await begin();
		recording.limitTime();
		return await recording.recorded;
	} finally {
		recording.close();
	}
}

class Recording {
	readonly recorded: Promise<Recorded>;
	readonly packets: DecodedPackets;
	readonly #session: Session;
	readonly #channel: AudioChannel;
	readonly #options: RecordingOptions;
	readonly #detector = new EndOfSpeech();
	readonly #droppedBefore: number;
	/** Whether the device listens: packets and a stop from before belong to an earlier recording. */
	#hasBegun: boolean;
	#end: NodeJS.Timeout | undefined;
	/** Runs while no packet comes. */
	#pause: NodeJS.Timeout | undefined;
	#settle!: { readonly resolve: (recorded: Recorded) => void; readonly reject: (error: Error) => void };

	constructor(session: Session, channel: AudioChannel, options: RecordingOptions) {
		this.#session = session;
		this.#channel = channel;
		this.#options = options;
		this.#hasBegun = channel.isListening;
		this.#droppedBefore = channel.dropped;
		this.packets = new DecodedPackets(MAX_SAMPLES, (samples) => this.#heard(samples));
		this.recorded = new Promise((resolve, reject) => {
			this.#settle = { resolve, reject };
		});
		// It may end before the decoder is open.
		this.recorded.catch(() => {});
		channel.on("packet", this.#onPacket);
		channel.on("message", this.#onMessage);
		session.on("closed", this.#onClosed);
		options.signal.addEventListener("abort", this.#onAbort, { once: true });
	}

	limitTime(): void {
		this.#end = setTimeout(() => this.#ended("time"), this.#options.seconds * 1_000);
	}

	close(): void {
		this.packets.close();
		clearTimeout(this.#end);
		clearTimeout(this.#pause);
		this.#channel.off("packet", this.#onPacket);
		this.#channel.off("message", this.#onMessage);
		this.#session.off("closed", this.#onClosed);
		this.#options.signal.removeEventListener("abort", this.#onAbort);
	}

	readonly #onPacket = (packet: Uint8Array): void => {
		if (this.#hasBegun) {
			this.packets.add(packet);
		}
	};

	readonly #onMessage = ({ type, state }: { readonly type: string; readonly state?: unknown }): void => {
		if (type === "listen" && state === "start") {
			this.#hasBegun = true;
		} else if (type === "listen" && state === "stop" && this.#hasBegun) {
			this.#ended("stopped");
		}
	};

	readonly #onClosed = (reason: string): void => this.#settle.reject(new Error(`it disconnected: ${reason}`));

	readonly #onAbort = (): void => this.#settle.reject(this.#options.signal.reason);

	#heard(samples: Int16Array): void {
		const { untilSilence } = this.#options;
		this.#detector.add(samples);
		clearTimeout(this.#pause);
		if (this.packets.count === MAX_SAMPLES) {
			this.#ended("time");
		} else if (untilSilence && this.#detector.hasEnded) {
			this.#ended("silence");
		} else if (untilSilence && this.#detector.hasSpeech) {
			this.#pause = setTimeout(() => this.#ended("silence"), NO_PACKETS);
		}
	}

	#ended(ended: Ending): void {
		const dropped = this.#channel.dropped - this.#droppedBefore + this.packets.undecoded;
		if (this.packets.count > 0) {
			const { hasSpeech } = this.#detector;
			this.#settle.resolve({ samples: this.packets.samples, ended, hasSpeech });
		} else if (dropped > 0) {
			this.#settle.reject(new Error(`none of the ${dropped} packets that it sent is Opus`));
		} else {
			this.#settle.reject(new Error("it sent no sound: it may have no microphone"));
		}
	}
}

/** Samples that stand for a packet that was lost: 60 ms. */
const LOST = (LISTENING_RATE * 60) / 1_000;

/** Packets of Opus as samples. Those that come before the decoder is open wait for it. */
class DecodedPackets {
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
