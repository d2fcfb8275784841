import type { AudioChannel, Connection } from "xs-mcp-manager/core";
import { type OpusDecoder, openOpusDecoder } from "../../../xs-mcp/src/build/opus.js";
import { EndOfSpeech, LISTENING_RATE } from "./end-of-speech.js";

/** Seconds that a device listens at most. */
export const MAX_SECONDS = 30;

/** Samples that are kept, and those of a lost packet: 60 ms. */
const MAX_SAMPLES = MAX_SECONDS * LISTENING_RATE;
const LOST = (LISTENING_RATE * 60) / 1_000;

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

/**
 * Records the sound of a device while it listens.
 *
 * Rejects with an Error if the device disconnects, sends no Opus, or the signal is aborted, and as `start` does.
 *
 * @param seconds 1 to 30
 * @param untilSilence whether it ends with the silence after speech; otherwise it takes the whole time
 * @param start makes the device listen. Packets may come before it resolves
 */
export async function record(
	connection: Connection,
	channel: AudioChannel,
	{ seconds, untilSilence, signal }: { seconds: number; untilSilence: boolean; signal: AbortSignal },
	start: () => Promise<void>,
): Promise<Recorded> {
	signal.throwIfAborted();
	const detector = new EndOfSpeech();
	const samples = new Int16Array(MAX_SAMPLES);
	let count = 0;
	/** Packets that came before the decoder was open, and how many of them cannot be decoded. */
	const early: Uint8Array[] = [];
	let undecoded = 0;
	const droppedBefore = channel.dropped;
	/** Whether the device listens: packets and a stop from before belong to an earlier recording. */
	let hasBegun = channel.isListening;
	let decoder: OpusDecoder | undefined;
	let limit: NodeJS.Timeout | undefined;
	/** Runs while no packet comes. */
	let pause: NodeJS.Timeout | undefined;
	let settle!: { readonly resolve: (ended: Ending) => void; readonly reject: (error: Error) => void };
	const recorded = new Promise<Ending>((resolve, reject) => {
		settle = { resolve, reject };
	});
	// It may end before the decoder is open.
	recorded.catch(() => {});
	/** Throws an Error if the packet is not Opus. */
	const decode = (opened: OpusDecoder, packet: Uint8Array): void => {
		const decoded = packet.length === 0 ? opened.decodePacketLoss(LOST) : opened.decode(packet);
		const kept = decoded.slice(0, MAX_SAMPLES - count);
		samples.set(kept, count);
		count += kept.length;
		detector.add(kept);
		clearTimeout(pause);
		if (count === MAX_SAMPLES) {
			settle.resolve("time");
		} else if (untilSilence && detector.hasEnded) {
			settle.resolve("silence");
		} else if (untilSilence && detector.hasSpeech) {
			pause = setTimeout(() => settle.resolve("silence"), NO_PACKETS);
		}
	};
	const onPacket = (packet: Uint8Array): void => {
		if (hasBegun && decoder === undefined) {
			early.push(packet.slice());
		} else if (hasBegun && decoder !== undefined) {
			decode(decoder, packet);
		}
	};
	const onMessage = ({ type, state }: { readonly type: string; readonly state?: unknown }): void => {
		if (type === "listen" && state === "start") {
			hasBegun = true;
		} else if (type === "listen" && state === "stop" && hasBegun) {
			settle.resolve("stopped");
		}
	};
	const onClosed = (reason: string): void => settle.reject(new Error(`it disconnected: ${reason}`));
	const onAbort = (): void => settle.reject(signal.reason);
	channel.on("packet", onPacket).on("message", onMessage);
	connection.events.on("closed", onClosed);
	signal.addEventListener("abort", onAbort, { once: true });
	try {
		decoder = await openOpusDecoder(LISTENING_RATE);
		for (const packet of early) {
			try {
				decode(decoder, packet);
			} catch {
				undecoded += 1;
			}
		}
		await start();
		limit = setTimeout(() => settle.resolve("time"), seconds * 1_000);
		const ended = await recorded;
		const dropped = channel.dropped - droppedBefore + undecoded;
		if (count === 0) {
			throw new Error(
				dropped > 0
					? `none of the ${dropped} packets that it sent is Opus`
					: "it sent no sound: it may have no microphone",
			);
		}
		return { samples: samples.subarray(0, count), ended, hasSpeech: detector.hasSpeech };
	} finally {
		decoder?.free();
		clearTimeout(limit);
		clearTimeout(pause);
		channel.off("packet", onPacket).off("message", onMessage);
		connection.events.off("closed", onClosed);
		signal.removeEventListener("abort", onAbort);
	}
}
