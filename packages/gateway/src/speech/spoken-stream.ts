import { setTimeout } from "node:timers/promises";
import type { AudioChannel, Connection } from "xs-mcp-manager/core";
import { SPOKEN_AUDIO } from "../devices/device-connection.js";

const FRAME = SPOKEN_AUDIO.frame_duration;

/**
 * Maximum number of packets queued on a device. More would bridge longer gaps of a bad network, but a device plays its queue to
 * the end: with three, a cancelled announcement is silent within 180 ms.
 */
const LEAD = 3;

/** Milliseconds that `start` has to arrive before packets that may overtake it: the device would drop them. */
const HEAD_START = 200;

/** Milliseconds after the last packet until `stop`: the last one has to be played, and may be late. */
const TAIL = 2 * FRAME;

/** Milliseconds that a device has to say that it does not speak any more. */
const CONFIRMATION_TIME = 3_000;

const MACHINE = {
	now: () => performance.now(),
	/** Rejects once the signal is aborted. */
	wait: (milliseconds: number, signal: AbortSignal): Promise<void> => setTimeout(milliseconds, undefined, { signal }),
};

/**
 * Says a text as the family's servers do: `tts` `start`, `sentence_start`, packets of Opus as fast as they are played, and `stop`.
 *
 * Rejects with an Error if the signal ends it, or the person at the device does.
 *
 * @param text shown on the screen
 * @returns whether the device has said that it has ended: by its state, or because it listens. Some devices of the family say nothing
 */
export async function streamSpeech(
	connection: Connection,
	channel: AudioChannel,
	text: string | undefined,
	packets: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
	signal: AbortSignal,
	clock = MACHINE,
): Promise<boolean> {
	const interrupted = new AbortController();
	const confirmed = new AbortController();
	const ended = AbortSignal.any([signal, interrupted.signal]);
	const onMessage = ({ type, state }: { readonly type: string; readonly state?: unknown }): void => {
		if (type === "abort") {
			interrupted.abort(new Error("stopped at the device"));
		} else if (type === "listen" && state === "start") {
			confirmed.abort();
		}
	};
	const onNotification = (method: string, { oldState }: Readonly<Record<string, unknown>>): void => {
		if (method === "notifications/state_changed" && oldState === "speaking") {
			confirmed.abort();
		}
	};
	const onClosed = (reason: string): void => interrupted.abort(new Error(reason));
	connection.events.on("notification", onNotification).on("closed", onClosed);
	channel.on("message", onMessage);
	try {
		connection.send({ type: "tts", state: "start" });
		if (text !== undefined) {
			connection.send({ type: "tts", state: "sentence_start", text });
		}
		if (channel.mayOvertake) {
			await clock.wait(HEAD_START, ended);
		}
		const started = clock.now();
		const waitUntil = async (time: number): Promise<void> => {
			const rest = started + time - clock.now();
			ended.throwIfAborted();
			if (rest > 0) {
				await clock.wait(rest, ended);
			}
		};
		let count = 0;
		for await (const packet of packets) {
			count += 1;
			await waitUntil((count - LEAD) * FRAME);
			channel.send(packet);
		}
		await waitUntil(count * FRAME + TAIL);
		connection.send({ type: "tts", state: "stop" });
		if (!confirmed.signal.aborted) {
			await clock.wait(CONFIRMATION_TIME, AbortSignal.any([ended, confirmed.signal])).catch(() => {});
		}
		ended.throwIfAborted();
		return confirmed.signal.aborted;
	} catch (error) {
		// On a new start, firmware of this project drops its queue; others play it, at most 180 ms.
		connection.send({ type: "tts", state: "start" });
		connection.send({ type: "tts", state: "stop" });
		throw ended.aborted ? ended.reason : error;
	} finally {
		connection.events.off("notification", onNotification).off("closed", onClosed);
		channel.off("message", onMessage);
	}
}
