import { once } from "node:events";
import { type OpusDecoder, openOpusDecoder } from "xs-mcp/build/opus";
import type { AudioLink, Connection } from "xs-mcp-manager/core";

/** Hertz of the samples. */
export const LISTENING_RATE = 16_000;

/** Seconds that a device listens at most. */
export const MAX_SECONDS = 30;

/** Samples that are kept, and those of a lost packet: 60 ms. */
const MAX_SAMPLES = MAX_SECONDS * LISTENING_RATE;
const LOST = (LISTENING_RATE * 60) / 1_000;

/** Milliseconds without a packet after which speech has ended: some devices send no silence, and Wi-Fi has gaps of a second. */
const NO_PACKETS = 2_500;

/**
 * Records the sound of a device while it listens.
 *
 * Resolves with the samples (16 kHz), why it has ended, and whether there was speech.
 * Rejects with an Error if the device disconnects, sends no Opus, or the signal is aborted, and as `start` does.
 *
 * @param seconds 1 to 30
 * @param untilSilence whether it ends with the silence after speech; otherwise it takes the whole time
 * @param start makes the device listen. Packets may come before it resolves
 */
export async function record(
	connection: Connection,
	channel: AudioLink,
	{ seconds, untilSilence, signal }: { seconds: number; untilSilence: boolean; signal: AbortSignal },
	start: () => Promise<void>,
) {
	signal.throwIfAborted();
	const detector = new EndOfSpeech();
	const samples = new Int16Array(MAX_SAMPLES);
	let count = 0;
	/** Packets that came before the decoder was open, and how many of them cannot be decoded. */
	const early: Uint8Array[] = [];
	let undecoded = 0;
	const droppedBefore = channel.dropped;
	/** Whether the device listens: packets and a stop from before belong to an earlier recording. */
	let hasStarted = channel.isListening;
	let decoder: OpusDecoder | undefined;
	let limit: NodeJS.Timeout | undefined;
	/** Runs while no packet comes. */
	let pause: NodeJS.Timeout | undefined;
	/** The person was silent, the time was over, or the person ended it at the device. */
	type Ending = "silence" | "time" | "stopped";
	const over = new AbortController();
	const either = AbortSignal.any([signal, over.signal]);
	const end = (reason: Ending | Error): void => over.abort(reason);
	/** Throws an Error if the packet is not Opus. */
	const decode = (opened: OpusDecoder, packet: Uint8Array): void => {
		const decoded = packet.length === 0 ? opened.decodePacketLoss(LOST) : opened.decode(packet);
		const kept = decoded.slice(0, MAX_SAMPLES - count);
		samples.set(kept, count);
		count += kept.length;
		detector.add(kept);
		clearTimeout(pause);
		if (count === MAX_SAMPLES) {
			end("time");
		} else if (untilSilence && detector.hasEnded) {
			end("silence");
		} else if (untilSilence && detector.hasSpeech) {
			pause = setTimeout(() => end("silence"), NO_PACKETS);
		}
	};
	const onPacket = (packet: Uint8Array): void => {
		if (hasStarted && decoder === undefined) {
			early.push(packet.slice());
		} else if (hasStarted && decoder !== undefined) {
			decode(decoder, packet);
		}
	};
	const onMessage = ({ type, state }: { readonly type: string; readonly state?: unknown }): void => {
		if (type === "listen" && state === "start") {
			hasStarted = true;
		} else if (type === "listen" && state === "stop" && hasStarted) {
			end("stopped");
		}
	};
	const onClosed = (reason: string): void => end(new Error(`it disconnected: ${reason}`));
	channel.on("packet", onPacket).on("message", onMessage);
	connection.events.on("closed", onClosed);
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
		limit = setTimeout(() => end("time"), seconds * 1_000);
		await (either.aborted || once(either, "abort"));
		signal.throwIfAborted();
		const ended: Ending | Error = over.signal.reason;
		if (ended instanceof Error) {
			throw ended;
		}
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
	}
}

/** Milliseconds and samples of a frame, whose loudness is measured. */
const FRAME_TIME = 20;
const FRAME = (LISTENING_RATE * FRAME_TIME) / 1_000;

/** Frames of the last seconds among which the noise is looked for, and the share of them that it is at least. */
const NOISE_FRAMES = 5_000 / FRAME_TIME;
const NOISE_SHARE = 0.1;

/** Decibels above the noise from which a sound is speech. */
const MARGIN = 9;

/** Decibels below full scale: the least noise of a microphone; and the level below which it has not started. */
const LEAST_NOISE = -65;
const NO_SOUND = -90;

/** Frames of speech that are more than a click, and of silence that are more than a pause between words. */
const SPEECH_FRAMES = 200 / FRAME_TIME;
const SILENT_FRAMES = 900 / FRAME_TIME;

/** Loud frames that silence may have. */
const CLICKS = 2;

/** Range of voices in hertz; other frequencies count less. */
const LOW = 200;
const HIGH = 1_500;

/** How far a filter of the first order follows its input with each sample. */
const STEP = { low: stepAt(LOW), high: stepAt(HIGH) };

/**
 * Finds the end of speech by its loudness above the noise level: the quietest tenth of the last five seconds.
 * A noise that starts during the recording counts as speech for at most five seconds.
 *
 * @internal exported for its test
 */
export class EndOfSpeech {
	hasSpeech = false;
	/** Decibels below full scale, for each frame since the beginning. */
	readonly #levels: number[] = [];
	#sum = 0;
	#count = 0;
	/** Below {@link LOW}, of the samples and of what is left without it; and below {@link HIGH} of the rest. */
	readonly #below = [0, 0, 0] as [number, number, number];

	/** Takes the next samples: 16 kHz, 16 bits. */
	add(samples: Int16Array): void {
		const below = this.#below;
		for (const sample of samples) {
			below[0] += STEP.low * (sample - below[0]);
			below[1] += STEP.low * (sample - below[0] - below[1]);
			below[2] += STEP.high * (sample - below[0] - below[1] - below[2]);
			this.#sum += below[2] ** 2;
			this.#count += 1;
			if (this.#count === FRAME) {
				this.#levels.push(10 * Math.log10(this.#sum / FRAME / 32_768 ** 2 + 1e-12));
				this.#sum = 0;
				this.#count = 0;
				this.hasSpeech ||= this.#loudIn(this.#levels) >= SPEECH_FRAMES;
			}
		}
	}

	/** Whether there was speech, and it has ended. */
	get hasEnded(): boolean {
		const last = this.#levels.slice(-SILENT_FRAMES);
		return this.hasSpeech && last.length === SILENT_FRAMES && this.#loudIn(last) <= CLICKS;
	}

	#loudIn(levels: readonly number[]): number {
		const recent = this.#levels
			.slice(-NOISE_FRAMES)
			.filter((level) => level > NO_SOUND)
			.sort((a, b) => a - b);
		const noise = Math.max(LEAST_NOISE, recent[Math.floor(recent.length * NOISE_SHARE)] ?? LEAST_NOISE);
		return levels.filter((level) => level > noise + MARGIN).length;
	}
}

function stepAt(frequency: number): number {
	return 1 - Math.exp((-2 * Math.PI * frequency) / LISTENING_RATE);
}
