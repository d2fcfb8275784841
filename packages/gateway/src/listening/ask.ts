import { setTimeout as delay } from "node:timers/promises";
import type { Server } from "xs-mcp-manager/core";
import type { Announcements } from "../speech/announcements.js";
import { ASK_USER, callForObject, findTool, fitting, showText } from "../speech/device-tools.js";
import type { ListeningCaller, Microphones } from "./microphones.js";

/** A question to the people near a device. */
export interface Question {
	readonly text: string;
	/** The answers that are expected; also to be chosen by buttons or touch. */
	readonly answers: readonly string[];
	/** Time for the answer, once the question was asked. */
	readonly seconds: number;
}

export interface Answer {
	readonly by: "voice" | "button";
	/** The matching expected answer; absent without a match. */
	readonly answer?: string | undefined;
	/** The recognized text. */
	readonly text?: string;
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
 * @param announcements undefined: the gateway has no voice
 * @returns undefined if the time ran out
 */
export async function ask(
	device: Server,
	question: Question,
	caller: ListeningCaller,
	microphones: Microphones,
	announcements: Announcements | undefined,
): Promise<Answer | undefined> {
	const isOver = new AbortController();
	const own = { ...caller, signal: AbortSignal.any([caller.signal, isOver.signal]) };
	const pressed = byButton(device, question, own);
	const said = byVoice(device, { ...question, isOnScreen: pressed !== undefined }, own, microphones, announcements);
	const ended = said.catch(async (error: Error) => {
		if (pressed === undefined) {
			throw error;
		}
		// It is still on the screen.
		await delay(question.seconds * 1_000, undefined, { signal: own.signal });
		return undefined;
	});
	try {
		return await (pressed === undefined ? ended : Promise.race([ended, chosen(pressed)]));
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

/** Settles only with a choice; the caller limits the time. */
function chosen(pressed: Promise<Answer | undefined>): Promise<Answer> {
	return new Promise((resolve) => {
		pressed.then(
			(answer) => answer && resolve(answer),
			() => {},
		);
	});
}

/** Asks aloud, and listens until something was understood or the time is over. Rejects if the question is neither said nor shown. */
async function byVoice(
	device: Server,
	question: Question & { readonly isOnScreen: boolean },
	caller: ListeningCaller,
	microphones: Microphones,
	announcements: Announcements | undefined,
): Promise<Answer | undefined> {
	const { text: asked, isOnScreen } = question;
	try {
		await (announcements === undefined
			? isOnScreen || showText(device, asked, caller)
			: announcements.sayNow({ text: asked, isOnlySaid: isOnScreen }, device, caller));
	} catch (error) {
		if (!isOnScreen || caller.signal.aborted) {
			throw error;
		}
	}
	const end = performance.now() + question.seconds * 1_000;
	for (;;) {
		const seconds = Math.round((end - performance.now()) / 1_000);
		if (seconds < 1) {
			return undefined;
		}
		const { text, ended } = await microphones.listenNow(device, { seconds, untilSilence: true }, caller);
		if (text !== "") {
			return { by: "voice", text, answer: matchAnswer(text, question.answers) };
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
