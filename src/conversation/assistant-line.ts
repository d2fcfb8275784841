import type { Answer, Assistant } from "../hardware/assistant.js";
import type { TimerHandle } from "../hardware/timer.js";
import type { Envelope } from "../protocols/envelope.js";
import { isObject } from "../text/is-object.js";
import { shortText } from "../text/short-text.js";
import type { BackendLink, ConversationOptions } from "./backend-link.js";

/** Milliseconds until the first sign of an answer, the time for a session included. */
const FIRST_SIGN = 20_000;

/** Milliseconds between two signs: a model may call tools that take long. */
const NEXT_SIGN = 60_000;

/** Characters of an answer that are kept for who asked. */
const MAX_ANSWER = 2_000;

const NO_ANSWER = "the backend gave no answer: it may have no assistant";

interface Pending {
	readonly text: string;
	readonly resolve: (answer: Answer) => void;
	readonly reject: (error: Error) => void;
	timer: TimerHandle | undefined;
	isSent: boolean;
	/** Whether the assistant has begun to speak since. */
	isSpoken: boolean;
	answer: string;
	emotion: string;
}

/** Says texts to the backend's assistant (`listen` `detect`), and follows what both say (`stt`, `llm`, `tts`). */
export class AssistantLine implements Assistant {
	private readonly options: ConversationOptions;
	private pending: Pending | undefined;
	private emotion = "";
	/** Whether the rest of an interrupted answer may still come. */
	private isAborting = false;

	constructor(options: ConversationOptions) {
		this.options = options;
	}

	/** Whether something was said that waits for its answer. */
	get isBusy(): boolean {
		return this.pending !== undefined;
	}

	say(text: string): Promise<Answer> {
		this.interrupt();
		return new Promise((resolve, reject) => {
			const { link } = this.options;
			const problem = reasonNotToSay(link);
			if (problem !== undefined) {
				reject(new Error(problem));
				return;
			}
			const pending = { text, resolve, reject, isSent: false, isSpoken: false, answer: "", emotion: "" };
			this.pending = { ...pending, timer: undefined };
			this.wait(FIRST_SIGN);
			if (link.hello === undefined) {
				link.request();
			} else {
				this.send();
			}
		});
	}

	interrupt(): void {
		const { link } = this.options;
		if (link.state === "speaking") {
			this.isAborting = true;
			link.send("abort");
		}
		this.fail("interrupted");
	}

	/** A session has begun. */
	sessionBegan(): void {
		if (this.pending?.isSent === false) {
			const problem = reasonNotToSay(this.options.link);
			problem === undefined ? this.send() : this.fail(problem);
		}
	}

	/** The session has ended, or could not begin. */
	sessionEnded(): void {
		this.isAborting = false;
		this.fail("no session with the backend");
	}

	/** A message of the backend. */
	receive(message: Envelope): void {
		switch (message.type) {
			case "stt":
				this.heard(shortText(message.text));
				break;
			case "llm":
				this.extendWait();
				this.emotion = shortText(message.emotion) || this.emotion;
				if (this.pending !== undefined) {
					this.pending.emotion = this.emotion;
				}
				break;
			case "tts":
				this.spoke(message);
				break;
		}
	}

	/** Outside a session it is a text for the person, such as the code that binds the device. */
	private heard(text: string): void {
		const { link, board } = this.options;
		this.isAborting = false;
		this.extendWait();
		if (text !== "" && link.hello === undefined) {
			board.chat?.show(`backend: ${text}`);
		} else if (text !== "") {
			board.chat?.show(`you: ${text}`);
			// The gateway records speech itself, and checks permissions.
			if (hasAssistant(link)) {
				link.tell("notifications/said", { role: "user", text });
			}
		}
	}

	private spoke({ state, text }: Envelope): void {
		this.extendWait();
		if (this.isAborting) {
			this.isAborting = state !== "start" && state !== "stop";
		} else if (state === "start") {
			this.begin();
		} else if (state === "sentence_start" && shortText(text) !== "") {
			this.begin();
			this.sentence(shortText(text));
		} else if (state === "stop" && this.pending?.isSpoken) {
			this.finish();
		}
	}

	private begin(): void {
		if (this.pending?.isSent) {
			this.pending.isSpoken = true;
		}
	}

	private sentence(text: string): void {
		const { link, board } = this.options;
		const emotion = this.emotion;
		board.chat?.show(`assistant${emotion === "" ? "" : ` (${emotion})`}: ${text}`);
		link.tell("notifications/said", { role: "assistant", text, ...(emotion !== "" && { emotion }) });
		const pending = this.pending;
		if (pending !== undefined && pending.answer.length < MAX_ANSWER) {
			pending.answer += pending.answer === "" ? text : ` ${text}`;
		}
	}

	private send(): void {
		const pending = this.pending;
		if (pending !== undefined) {
			pending.isSent = true;
			this.options.link.send("listen", { state: "detect", text: pending.text });
		}
	}

	/** The backend has heard, or goes on. */
	private extendWait(): void {
		if (this.pending?.isSent) {
			this.wait(NEXT_SIGN);
		}
	}

	/** A backend may end without a word: what has come until then is the answer. */
	private wait(time: number): void {
		const pending = this.pending;
		const { timer } = this.options;
		if (pending !== undefined) {
			timer.clear(pending.timer);
			pending.timer = timer.set(() => (pending.answer === "" ? this.fail(NO_ANSWER) : this.finish()), time);
		}
	}

	private finish(): void {
		const pending = this.take();
		pending?.resolve({ text: pending.answer, emotion: pending.emotion });
	}

	private fail(reason: string): void {
		this.take()?.reject(new Error(reason));
	}

	private take(): Pending | undefined {
		const pending = this.pending;
		this.pending = undefined;
		this.options.timer.clear(pending?.timer);
		return pending;
	}
}

/** A backend tells in its hello if it has no assistant: an addition of this project. */
const reasonNotToSay = ({ hello, isReachable, state }: BackendLink): string | undefined => {
	if (hello === undefined) {
		return isReachable ? undefined : `the device has no backend: it is ${state}`;
	}
	return hasAssistant({ hello }) ? undefined : "this backend has no assistant: it only passes on calls of tools";
};

const hasAssistant = ({ hello }: Pick<BackendLink, "hello">): boolean =>
	!isObject(hello?.features) || hello.features.listen !== false;
