import { setTimeout as delay } from "node:timers/promises";
import type { Tool } from "@modelcontextprotocol/server";
import { type Server, type ServerRegistry, textResult } from "xs-mcp-manager/core";
import * as z from "zod";
import type { OwnTool, OwnToolCaller } from "../catalog/catalog.js";
import { type Access, reaches } from "../config/access.js";
import { ownTool } from "../mcp/own-tool.js";
import type { Announcements } from "../speech/announcements.js";
import { ASK_USER, callForObject, findTool, fitting, showText } from "../speech/device-tools.js";
import type { SpeechOfGateway } from "../speech/plugin.js";
import type { ListeningCaller, Microphones } from "./microphones.js";
import { MAX_SECONDS } from "./recording.js";

/** A question to the people near a device. */
interface Question {
	readonly text: string;
	/** The answers that are expected; also to be chosen by buttons or touch. */
	readonly answers: readonly string[];
	/** Time for the answer, once the question was asked. */
	readonly seconds: number;
}

interface Answer {
	readonly by: "voice" | "button";
	/** The matching expected answer; absent without a match. */
	readonly answer?: string | undefined;
	/** The recognized text. */
	readonly text?: string;
}

/** A client that asks, and the gateway's ways to ask and to hear the answer. */
interface Asker extends ListeningCaller {
	readonly microphones: Microphones;
	/** Undefined: the gateway has no voice. */
	readonly announcements: Announcements | undefined;
}

/** Seconds for the longest question, with which the screen shows it; it ends sooner, with the call. */
const SPEECH_TIME = 150;

/** Seconds of the `ask_user` tool. */
const MAX_ASK_USER = 300;

/**
 * Asks a question at a device whose turn it is: aloud, and on its screen with the answers. The first answer counts, by voice
 * or by button.
 *
 * Rejects with an Error if it can neither be asked nor answered.
 *
 * @returns undefined if the time ran out
 */
async function ask(device: Server, question: Question, asker: Asker): Promise<Answer | undefined> {
	const isOver = new AbortController();
	const own = { ...asker, signal: AbortSignal.any([asker.signal, isOver.signal]) };
	const pressed = byButton(device, question, own);
	const isOnScreen = pressed !== undefined;
	const ended = byVoice(device, question, own, isOnScreen).catch(async (error: Error) => {
		if (!isOnScreen) {
			throw error;
		}
		// It is still on the screen.
		await delay(question.seconds * 1_000, undefined, { signal: own.signal });
		return undefined;
	});
	try {
		// If nothing is pressed, the spoken answer counts.
		const choice = pressed?.then((answer) => answer ?? ended).catch(() => ended);
		return await Promise.race([ended, choice ?? ended]);
	} finally {
		isOver.abort(new Error("the question is over"));
		// The turn lasts until the device does nothing of it any more.
		await Promise.allSettled([ended, pressed]);
	}
}

/** The choice on the screen; undefined if the device cannot show the question. */
function byButton(
	device: Server,
	{ text, answers, seconds }: Question,
	caller: ListeningCaller,
): Promise<Answer | undefined> | undefined {
	const tool = findTool(device, ASK_USER);
	if (tool === undefined || answers.length === 0) {
		return undefined;
	}
	const args = {
		question: fitting(tool, "question", text),
		choices: answers,
		seconds: Math.min(MAX_ASK_USER, seconds + SPEECH_TIME),
	};
	return callForObject(device, tool, args, caller).then(({ choice }) =>
		typeof choice === "string" ? { by: "button", answer: choice } : undefined,
	);
}

/** Asks aloud, and listens until something was understood or the time is over. Rejects if the question is neither said nor shown. */
async function byVoice(
	device: Server,
	{ text: asked, answers, seconds: limit }: Question,
	asker: Asker,
	isOnScreen: boolean,
): Promise<Answer | undefined> {
	const { microphones, announcements, signal } = asker;
	try {
		await (announcements === undefined
			? isOnScreen || showText(device, asked, asker)
			: announcements.sayNow({ text: asked, isOnlySaid: isOnScreen }, device, asker));
	} catch (error) {
		if (!isOnScreen || signal.aborted) {
			throw error;
		}
	}
	const end = performance.now() + limit * 1_000;
	for (;;) {
		const seconds = Math.round((end - performance.now()) / 1_000);
		if (seconds < 1) {
			return undefined;
		}
		const { text, ended } = await microphones.listenNow(device, { seconds, untilSilence: true }, asker);
		if (text !== "") {
			return { by: "voice", text, answer: matchAnswer(text, answers) };
		}
		if (ended !== "silence") {
			return undefined;
		}
	}
}

/**
 * Finds the expected answer that a text contains; undefined if it contains none, or several.
 *
 * @internal exported for its test
 */
export function matchAnswer(text: string, answers: readonly string[]): string | undefined {
	const said = ` ${plain(text)} `;
	const found = answers.filter((answer) => has(said, plain(answer)));
	// "not now" has "now" in it.
	const longest = found.filter(
		(answer) => !found.some((other) => other !== answer && has(` ${plain(other)} `, plain(answer))),
	);
	return longest.length === 1 ? longest[0] : undefined;
}

/** Chinese and Japanese have no spaces between words. */
function has(said: string, answer: string): boolean {
	const isWord = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{N} ]+$/u.test(answer);
	return answer !== "" && said.includes(isWord ? ` ${answer} ` : answer);
}

/** Lower case, without punctuation. */
function plain(text: string): string {
	return text
		.normalize("NFKC")
		.toLowerCase()
		.replace(/[^\p{L}\p{N}]+/gu, " ")
		.trim();
}

/** Characters of a question, and of an answer; and answers: as much as a device's `ask_user` takes. */
const MAX_QUESTION = 500;
const MAX_ANSWER = 40;
const MAX_ANSWERS = 8;

/** The argument that names a device. */
const DEVICE = z.string().min(1).max(256).describe("Alias or id of the device");

const ASK_INPUT = z.strictObject({
	device: DEVICE,
	question: z.string().trim().min(1).max(MAX_QUESTION).describe("In the language of the people who hear it"),
	answers: z
		.array(z.string().trim().min(1).max(MAX_ANSWER))
		.max(MAX_ANSWERS)
		.default([])
		.describe("Expected answers, also to be chosen by buttons or touch. Without them any spoken answer counts"),
	seconds: z.int().min(3).max(MAX_SECONDS).default(15).describe("Time for the answer, after the question"),
});

const ASK_LISTED: Omit<Tool, "inputSchema"> = {
	name: "ask",
	title: "Ask",
	description:
		"Ask the people near a device a question, aloud and on its screen, and wait for the answer: by voice, by buttons or by touch, " +
		"whichever comes first. The device listens with its microphone after the question.",
	annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
};

/** The tool `ask`, for a client that may listen. */
export function askTool(
	access: Access,
	microphones: Microphones,
	servers: ServerRegistry,
	{ turns, voice }: SpeechOfGateway,
): OwnTool {
	return ownTool(ASK_LISTED, ASK_INPUT, async ({ device: name, question: text, answers, seconds }, caller) => {
		const question = { text, answers, seconds };
		const asker = { ...listener(caller, seconds), microphones, announcements: voice?.announcements };
		return await onDevice(servers, access, name, async (device) => {
			const hasButtons = device.online && answers.length > 0 && findTool(device, ASK_USER) !== undefined;
			if (!hasButtons) {
				microphones.check(device);
			}
			const answer = await turns.take(device, caller.signal, (signal) => ask(device, question, { ...asker, signal }));
			return textResult(describe(answer), {
				structuredContent: { device: device.alias, answered: answer !== undefined, ...answer },
			});
		});
	});
}

function describe(answer: Answer | undefined): string {
	if (answer === undefined) {
		return "Nobody answered.";
	}
	const { by, text, answer: expected } = answer;
	return by === "button" ? `${expected} (by button)` : `${expected ?? "another answer"} (by voice: ${text})`;
}

const LISTEN_INPUT = z.strictObject({
	device: DEVICE,
	seconds: z.int().min(1).max(MAX_SECONDS).default(10).describe("How long it listens at most"),
	until: z
		.enum(["silence", "time"])
		.default("silence")
		.describe("silence: ends with the silence after speech; time: listens the whole time"),
	audio: z.boolean().default(false).describe("Also returns the sound, for clients that can use it"),
});

const LISTEN_LISTED: Omit<Tool, "inputSchema"> = {
	name: "listen",
	title: "Listen",
	description:
		"Listen with the microphone of a device, and return what was said as text. People nearby are recorded, so do it only " +
		"when they expect it; the device shows that it listens. Firmware of other makers may not begin by itself: the answer says so. " +
		"To ask a question and wait for the answer, use ask.",
	// Not read-only: it switches a microphone on.
	annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
};

/** The tool `listen`, for a client that may listen. */
export function listenTool(access: Access, microphones: Microphones, servers: ServerRegistry): OwnTool {
	return ownTool(LISTEN_LISTED, LISTEN_INPUT, async ({ device: name, seconds, until, audio }, caller) => {
		const what = { seconds, untilSilence: until === "silence", asText: !audio || microphones.canRecognize };
		return await onDevice(servers, access, name, async (device) => {
			const heard = await microphones.listen(device, what, listener(caller, seconds));
			const { text, hasSpeech, ended, wav } = heard;
			const silence = hasSpeech ? "Somebody spoke, but no words were recognized." : "Nobody spoke.";
			return {
				content: [
					{ type: "text", text: text || silence },
					...(audio ? [{ type: "audio" as const, data: wav.toString("base64"), mimeType: "audio/wav" }] : []),
				],
				structuredContent: { device: device.alias, heard: text !== "", text, seconds: heard.seconds, ended },
			};
		});
	});
}

/** Makes the caller of a recording. Its progress ends at the recording's maximum duration, in seconds. */
function listener({ principal, clientName, signal, progress }: OwnToolCaller, seconds: number): ListeningCaller {
	const onProgress = (passed: number, message: string) => progress(Math.min(passed, seconds), seconds, message);
	return { principal, clientName, signal, onProgress };
}

/** Names in an error. */
const MAX_NAMES = 20;

/** Calls `use` with the device of a name. Rejects with RangeError that lists valid names, or with an Error that names the device. */
async function onDevice<T>(
	servers: ServerRegistry,
	access: Access,
	name: string,
	use: (device: Server) => Promise<T>,
): Promise<T> {
	const isReached = (server: Server): boolean => !server.configured && reaches(access, server.id);
	const device = servers.find(name);
	if (device === undefined || !isReached(device)) {
		const names = servers.all.filter(isReached).map(({ alias }) => alias);
		throw new RangeError(
			`device: no device ${JSON.stringify(name)}; expected ${names.slice(0, MAX_NAMES).join(", ") || "one that has connected"}`,
		);
	}
	return await use(device).catch((error: Error) => {
		throw new Error(`${device.alias}: ${error.message}`);
	});
}
