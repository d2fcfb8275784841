import { setTimeout } from "node:timers/promises";
import type { AudioChannel, Session } from "xs-mcp-manager/core";
import { SPOKEN_AUDIO } from "../devices/hello.js";

/** Milliseconds of a packet. */
const FRAME = SPOKEN_AUDIO.frame_duration;

/**
 * Packets that a device has at most. More would bridge longer gaps of a bad network, but a device plays what it has: so a
 * cancelled announcement is silent within 180 ms.
 */
const LEAD = 3;

/** Milliseconds that `start` has to arrive before packets that may overtake it: the device would drop them. */
const HEAD_START = 200;

/** Milliseconds after the last packet until `stop`: the last one has to be played, and may be late. */
const TAIL = 2 * FRAME;

/** Milliseconds that a device has to say that it does not speak any more. */
const CONFIRMATION_TIME = 3_000;

interface SpokenOptions {
	/** Shown on the screen. */
	readonly text: string | undefined;
	readonly packets: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
	readonly signal: AbortSignal;
	/** Default: the machine's. */
	readonly clock?: Clock;
}

/** Milliseconds that pass. */
interface Clock {
	now(): number;
	/** Rejects once the signal is aborted. */
	wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

const MACHINE: Clock = {
	now: () => performance.now(),
	wait: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }),
};

/**
 * Says a text as the family's servers do: `tts` `start`, `sentence_start`, packets of Opus as fast as they are played, and `stop`.
 *
 * Rejects with an Error if the signal ends it, or the person at the device does.
 *
 * @returns whether the device has said that it has ended: by its state, or because it listens. Some devices of the family say nothing
 */
export async function streamSpeech(
	session: Session,
	channel: AudioChannel,
	{ text, packets, signal, clock = MACHINE }: SpokenOptions,
): Promise<boolean> {
	const device = new Listener(session, channel, clock);
	const ended = AbortSignal.any([signal, device.interrupted]);
	try {
		session.sendMessage({ type: "tts", state: "start" });
		if (text !== undefined) {
			session.sendMessage({ type: "tts", state: "sentence_start", text });
		}
		if (channel.mayOvertake) {
			await clock.wait(HEAD_START, ended);
		}
		await sendPaced(channel, packets, { signal: ended, clock });
		session.sendMessage({ type: "tts", state: "stop" });
		return await device.confirmed(ended);
	} catch (error) {
		// Firmware of this project drops what it has not played at a new start; others play it, at most 180 ms.
		session.sendMessage({ type: "tts", state: "start" });
		session.sendMessage({ type: "tts", state: "stop" });
		throw ended.aborted ? ended.reason : error;
	} finally {
		device.close();
	}
}

/** Rejects once the signal is aborted. */
async function sendPaced(
	channel: AudioChannel,
	packets: SpokenOptions["packets"],
	{ signal, clock }: Required<Pick<SpokenOptions, "signal" | "clock">>,
): Promise<void> {
	const started = clock.now();
	const waitUntil = async (time: number): Promise<void> => {
		const rest = started + time - clock.now();
		signal.throwIfAborted();
		if (rest > 0) {
			await clock.wait(rest, signal);
		}
	};
	let count = 0;
	for await (const packet of packets) {
		count += 1;
		await waitUntil((count - LEAD) * FRAME);
		channel.send(packet);
	}
	await waitUntil(count * FRAME + TAIL);
}

/** Messages of the device meanwhile. */
class Listener {
	readonly #session: Session;
	readonly #channel: AudioChannel;
	readonly #clock: Clock;
	readonly #interrupted = new AbortController();
	readonly #confirmed = new AbortController();

	constructor(session: Session, channel: AudioChannel, clock: Clock) {
		this.#session = session;
		this.#channel = channel;
		this.#clock = clock;
		session.on("notification", this.#onNotification);
		session.on("closed", this.#onClosed);
		channel.on("message", this.#onMessage);
	}

	/** Aborted if the person at the device ends the sound, or the device is gone. */
	get interrupted(): AbortSignal {
		return this.#interrupted.signal;
	}

	/** Whether the device says in time that it has ended. Rejects once the signal is aborted. */
	async confirmed(signal: AbortSignal): Promise<boolean> {
		const heard = this.#confirmed.signal;
		if (!heard.aborted) {
			await this.#clock.wait(CONFIRMATION_TIME, AbortSignal.any([signal, heard])).catch(() => {});
		}
		signal.throwIfAborted();
		return heard.aborted;
	}

	close(): void {
		this.#session.off("notification", this.#onNotification);
		this.#session.off("closed", this.#onClosed);
		this.#channel.off("message", this.#onMessage);
	}

	readonly #onMessage = ({ type, state }: { readonly type: string; readonly state?: unknown }): void => {
		if (type === "abort") {
			this.#interrupted.abort(new Error("stopped at the device"));
		} else if (type === "listen" && state === "start") {
			this.#confirmed.abort();
		}
	};

	readonly #onNotification = (method: string, { oldState }: Readonly<Record<string, unknown>>): void => {
		if (method === "notifications/state_changed" && oldState === "speaking") {
			this.#confirmed.abort();
		}
	};

	readonly #onClosed = (reason: string): void => this.#interrupted.abort(new Error(reason));
}
