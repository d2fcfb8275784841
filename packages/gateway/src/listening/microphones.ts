import { on } from "node:events";
import type { AudioEvents, AudioLink, Connection, Server } from "xs-mcp-manager/core";
import { events } from "../events/plugin.js";
import type { RunningGateway } from "../gateway.js";
import { history } from "../history/plugin.js";
import type { Caller } from "../speech/device-tools.js";
import { speech } from "../speech/plugin.js";
import { encodeWav } from "../speech/wav.js";
import type { RecognizeFor } from "./recognizer.js";
import { LISTENING_RATE, MAX_SECONDS, record } from "./recording.js";

/** How to listen. */
export interface Listening {
	/** 1 to {@link MAX_SECONDS}. */
	readonly seconds: number;
	/** Whether it ends with the silence after speech. */
	readonly untilSilence: boolean;
	/** Whether the speech is turned into text. Default true. */
	readonly asText?: boolean;
}

/** A client that listens. */
export interface ListeningCaller extends Caller {
	/** The application, as it names itself. */
	readonly clientName?: string | undefined;
	/** Called when the device listens, and then every two seconds, with the seconds so far and a message. */
	readonly onProgress?: ((seconds: number, message: string) => void) | undefined;
}

/** Milliseconds between two reports of progress. */
const REPORT_INTERVAL = 2_000;

/** How to have speech turned into text. */
const NO_RECOGNIZER =
	"this gateway cannot turn speech into text: its operator sets transcriptionCommand or transcriptionUrl";

/** The microphones of devices. */
export type Microphones = ReturnType<typeof makeMicrophones>;

/**
 * Listens with the microphones of devices, one after the other on each, and never while it speaks.
 *
 * @param recognize undefined: no setting says how
 */
export function makeMicrophones(gateway: RunningGateway, recognize: RecognizeFor | undefined) {
	/**
	 * Listens with a device whose turn it is already. Rejects as {@link listen} does.
	 *
	 * @returns `text`, empty without speech or if not requested; `wav`, a WAV file
	 */
	const listenNow = async (device: Server, what: Listening, caller: ListeningCaller) => {
		const recorded = await recordSound(device, what, caller);
		const { samples, hasSpeech, ended } = recorded;
		const wav = encodeWav({
			sampleRate: LISTENING_RATE,
			samples: Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength),
		});
		const seconds = Math.round((samples.length / LISTENING_RATE) * 10) / 10;
		let text = "";
		if (what.asText !== false && hasSpeech && recognize !== undefined) {
			caller.onProgress?.(seconds, "turning the speech into text");
			text = await recognize(wav, caller);
			if (text !== "") {
				// On the screen, as the family's servers do.
				device.connection?.send({ type: "stt", text });
			}
		}
		return { text, hasSpeech, seconds, ended, wav };
	};

	/**
	 * The session of a device that can listen.
	 *
	 * @throws Error that says why it cannot
	 */
	const check = (device: Server, { asText = true }: Pick<Listening, "asText"> = {}) => {
		const { connection, online } = device;
		if (asText && recognize === undefined) {
			throw new Error(NO_RECOGNIZER);
		}
		if (!online || connection === undefined) {
			throw new Error("offline");
		}
		if (connection.identity.gateway !== undefined) {
			throw new Error(`connected to another gateway of the cluster, ${connection.identity.gateway}`);
		}
		if (connection.audio === undefined) {
			throw new Error("it has no microphone, or its connection carries no sound");
		}
		return { connection, channel: connection.audio };
	};

	const recordSound = async (device: Server, what: Listening, caller: ListeningCaller) => {
		const { connection, channel } = check(device, what);
		const { principal, clientName: client, signal, onProgress } = caller;
		const started = performance.now();
		const elapsed = (): number => performance.now() - started;
		let outcome = "ok";
		let timer: NodeJS.Timeout | undefined;
		gateway.log.info({ device: device.id, principal }, "listening");
		try {
			return await record(connection, channel, { ...what, signal }, async () => {
				await startListening(connection, channel, signal);
				const report = (): void => onProgress?.(Math.round(elapsed() / 1_000), `${device.alias} listens`);
				report();
				timer = setInterval(report, REPORT_INTERVAL);
			});
		} catch (error) {
			outcome = signal.aborted ? "cancelled" : "failed";
			throw error;
		} finally {
			clearInterval(timer);
			await endListening(connection, channel);
			const args = JSON.stringify({ seconds: what.seconds });
			const record = { principal, client, outcome, duration: elapsed(), tool: "listen", args };
			gateway
				.use(history)
				.audit?.append({ time: new Date().toISOString(), device: device.id, alias: device.alias, ...record });
		}
	};

	return {
		/** Whether speech can be turned into text. */
		canRecognize: recognize !== undefined,
		/** Listens with a device in its turn. Rejects with an Error that says why nothing was heard. */
		async listen(device: Server, what: Listening, caller: ListeningCaller) {
			check(device, what);
			return await gateway
				.use(speech)
				.turns.take(device, caller.signal, (signal) => listenNow(device, what, { ...caller, signal }));
		},
		listenNow,
		check,
	};
}

/** Caller in the log: a person at the device has begun it. */
const PRINCIPAL = "device";

const NAME = "speech.heard";

/**
 * Records speech as an event when a device starts to listen by itself, after a press or a wake word, and only while a client
 * subscribes to that. Listening that follows a request of the gateway does not count.
 */
export function recordHeard(gateway: RunningGateway, microphones: Microphones): void {
	const { turns } = gateway.use(speech);
	const service = gateway.use(events);
	const hear = async (device: Server): Promise<void> => {
		const { signal } = new AbortController();
		const what = { seconds: MAX_SECONDS, untilSilence: true };
		const { text } = await microphones.listen(device, what, { principal: PRINCIPAL, signal });
		if (text !== "") {
			service.log.append({ name: NAME, device: device.id, data: { device: device.alias, text } });
		}
	};
	gateway.servers.on("connected", (device, { audio }) => {
		audio?.on("message", ({ type, state }) => {
			const begins = type === "listen" && state === "start" && device.online && !turns.isBusy(device);
			const event = { name: NAME, device: device.id, data: { device: device.alias, text: "" } };
			if (begins && service.wants(event)) {
				hear(device).catch(({ message }: Error) =>
					gateway.limitedLog.warn("speech", { device: device.id }, `not heard: ${message}`),
				);
			}
		});
	});
}

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
async function startListening(connection: Connection, channel: AudioLink, signal: AbortSignal): Promise<void> {
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
async function endListening(connection: Connection, channel: AudioLink): Promise<void> {
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
	channel: AudioLink,
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
