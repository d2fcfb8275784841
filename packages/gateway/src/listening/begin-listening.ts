import { on } from "node:events";
import type { AudioChannel, AudioEvents, Connection } from "xs-mcp-manager/core";

/** Milliseconds that a device has to say that it listens. */
const ANSWER_TIME = 3_000;

/** The reasons of this project's firmware for not listening, as texts. */
const REASONS: Readonly<Record<string, string>> = {
	muted: "its microphone is muted",
	"no microphone": "it has no microphone",
	upgrading: "it installs firmware",
};

/**
 * Makes a device listen, unless it already does. Resolves when the device confirms; rejects with an Error with the reason.
 *
 * Firmware of this project does so at a `listen` message. Other firmware of the family knows none: by its sources, the C++
 * firmware listens after `tts` `stop`, unless a person ends its turns by a button.
 */
export async function beginListening(
	connection: Connection,
	channel: AudioChannel,
	signal: AbortSignal,
): Promise<void> {
	signal.throwIfAborted();
	if (channel.isListening) {
		return;
	}
	const ask = (): void => {
		if (channel.listensOnRequest) {
			connection.send({ type: "listen", state: "start" });
		} else {
			connection.send({ type: "tts", state: "start" });
			connection.send({ type: "tts", state: "stop" });
		}
	};
	await request(connection, channel, signal, ask, ({ state, reason }) => {
		if (state === "stop" && typeof reason === "string") {
			throw new Error(REASONS[reason] ?? `it is busy: ${reason.slice(0, 40)}`);
		}
		return state === "start";
	});
}

/**
 * Stops a device from listening, if its firmware can be asked. Resolves when the device confirms or does not answer. A device
 * that has not confirmed the start is stopped, too: it must not start later.
 */
export async function endListening(connection: Connection, channel: AudioChannel): Promise<void> {
	if (!channel.listensOnRequest) {
		return;
	}
	const ask = (): void => connection.send({ type: "listen", state: "stop" });
	if (!channel.isListening) {
		ask();
		return;
	}
	const { signal } = new AbortController();
	await request(connection, channel, signal, ask, ({ state }) => state === "stop").catch(() => {});
}

type Message = AudioEvents["message"][0];

/**
 * Asks a device, and resolves when it answers. Rejects with an Error on a timeout, or if the signal is aborted.
 *
 * @param isAnswer throws an Error if the answer is no
 */
async function request(
	connection: Connection,
	channel: AudioChannel,
	signal: AbortSignal,
	ask: () => void,
	isAnswer: (message: Message) => boolean,
): Promise<void> {
	const ended = new AbortController();
	const closed = (reason: string): void => ended.abort(new Error(`it disconnected: ${reason}`));
	const silent = `it has not begun to listen within ${ANSWER_TIME / 1_000} s`;
	const problem = channel.listensOnRequest
		? silent
		: `${silent}: its firmware does not do so by itself. Ask the person to press its button or say its wake word, and call again`;
	const tooLate = setTimeout(() => ended.abort(new Error(problem)), ANSWER_TIME);
	const either = AbortSignal.any([signal, ended.signal]);
	connection.events.once("closed", closed);
	try {
		const messages = on(channel, "message", { signal: either });
		ask();
		for await (const [message] of messages as AsyncIterable<[Message]>) {
			if (message.type === "listen" && isAnswer(message)) {
				return;
			}
		}
	} catch (error) {
		throw either.aborted ? either.reason : error;
	} finally {
		clearTimeout(tooLate);
		connection.events.off("closed", closed);
	}
}
