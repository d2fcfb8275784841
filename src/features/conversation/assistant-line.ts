import type { Application } from "../../core/application.js";
import { AppPart, type Listener } from "../../core/listener.js";
import { isObject } from "../../core/text/json.js";
import { shortText } from "../../core/text/short-text.js";
import type { Answer, Assistant } from "../../hardware/assistant.js";
import type { TimerHandle } from "../../hardware/hardware.js";
import type { Envelope, Session } from "../../protocols/envelope.js";
import { isIdle } from "./notice.js";

/** Timeout for the first sign of an answer, including the start of a session, ms. */
const FIRST_SIGN = 20_000;

/** Timeout for each further sign, ms: a model may call tools that take long. */
const NEXT_SIGN = 60_000;

/** Maximum characters of an answer that is returned. */
const MAX_ANSWER = 2_000;

const NO_ANSWER = "the backend gave no answer: it may have no assistant";

interface Pending {
	readonly text: string;
	readonly resolve: (answer: Answer) => void;
	readonly reject: (error: Error) => void;
	timer?: TimerHandle;
	isSent: boolean;
	/** Whether the assistant has begun to answer. */
	isSpoken: boolean;
	answer: string;
	emotion: string;
}

/** Sends texts to the backend's assistant (`listen` `detect`), and follows the conversation (`stt`, `llm`, `tts`). */
export class AssistantLine extends AppPart implements Assistant, Listener {
	private pending: Pending | undefined;
	private emotion = "";
	/** Whether the rest of an interrupted answer may still come. */
	private isAborting = false;
	/** Whether the backend wants to speak as soon as the session begins. */
	private isAsked = false;

	onStart(): void {
		const { chat } = this.app.board;
		if (chat !== undefined) {
			chat.onLine = (text) => {
				this.say(text).catch((error: Error) => chat.show(`assistant: ${error.message}`));
			};
		}
	}

	/** Whether a text is waiting for its answer. */
	get isBusy(): boolean {
		return this.pending !== undefined;
	}

	async say(text: string): Promise<Answer> {
		const { backend } = this.app;
		this.interrupt();
		const problem = reasonNotToSay(this.app);
		if (problem !== undefined) {
			throw new Error(problem);
		}
		return await new Promise((resolve, reject) => {
			const pending = { text, resolve, reject, isSent: false, isSpoken: false, answer: "", emotion: "" };
			this.pending = pending;
			this.wait(FIRST_SIGN);
			if (backend.session === undefined) {
				backend.protocol?.request();
			} else {
				this.send(pending);
			}
		});
	}

	wake(text: string): void {
		const { app } = this;
		const { codec } = app.board;
		if (app.state === "speaking") {
			this.interrupt({ reason: "wake_word_detected" });
			app.emit("onInterrupt");
			return;
		}
		const problem = app.state === "idle" ? reasonNotToSay(app) : `the device is ${app.state}`;
		if (problem !== undefined) {
			throw new Error(problem);
		}
		this.say(text).catch((error: Error) => app.log(`remote wake-up: ${error.message}`));
		if (app.backend.audio !== undefined && codec?.record !== undefined && codec.muted !== true) {
			app.talk.listen();
		}
	}

	/** @param about further members of the message `abort` */
	interrupt(about?: object): void {
		const { app } = this;
		if (app.state === "speaking") {
			this.isAborting = true;
			app.backend.send("abort", about);
		}
		this.end("interrupted");
	}

	onSession(): void {
		const { pending } = this;
		if (pending?.isSent === false) {
			const problem = reasonNotToSay(this.app);
			if (problem === undefined) {
				this.send(pending);
			} else {
				this.end(problem);
				this.app.talk.stopListening();
			}
		}
		if (this.isAsked) {
			this.allowSpeech();
		}
	}

	onSessionLost(): void {
		this.isAsked = false;
		this.isAborting = false;
		this.end("no session with the backend");
	}

	onMessage(message: Envelope): void {
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
			case "speak_request":
				if (isIdle(message, this.app)) {
					this.allowSpeech();
				}
				break;
		}
	}

	/** Lets the backend speak: https://github.com/78/xiaozhi-esp32/pull/1939. Its request also starts a session. */
	private allowSpeech(): void {
		const { app } = this;
		this.isAsked = app.backend.session === undefined;
		if (!this.isAsked) {
			app.backend.send("speak_ready", { state: "ready" });
		}
	}

	/** Handles an `stt` text. Outside a session it is for the person, such as the code that binds the device. */
	private heard(text: string): void {
		const { app } = this;
		const { session } = app.backend;
		this.isAborting = false;
		this.extendWait();
		if (text !== "") {
			app.board.chat?.show(`${session === undefined ? "backend" : "you"}: ${text}`);
		}
		// The gateway records speech itself, and checks permissions.
		if (text !== "" && session !== undefined && hasAssistant(session)) {
			app.notify("notifications/said", { role: "user", text });
		}
	}

	private spoke({ state, text }: Envelope): void {
		const { pending } = this;
		const sentence = state === "sentence_start" ? shortText(text) : "";
		this.extendWait();
		if (this.isAborting) {
			this.isAborting = state !== "start" && state !== "stop";
			return;
		}
		if (pending?.isSent && (state === "start" || sentence !== "")) {
			pending.isSpoken = true;
		}
		if (sentence !== "") {
			this.sentence(sentence);
		} else if (state === "stop" && pending?.isSpoken) {
			this.end();
		}
	}

	private sentence(text: string): void {
		const { app } = this;
		const emotion = this.emotion;
		app.board.chat?.show(`assistant${emotion === "" ? "" : ` (${emotion})`}: ${text}`);
		app.notify("notifications/said", { role: "assistant", text, ...(emotion !== "" && { emotion }) });
		const pending = this.pending;
		if (pending !== undefined && pending.answer.length < MAX_ANSWER) {
			pending.answer += pending.answer === "" ? text : ` ${text}`;
		}
	}

	private send(pending: Pending): void {
		pending.isSent = true;
		this.app.backend.send("listen", { state: "detect", text: pending.text });
	}

	/** Restarts the timeout after a sign of an answer. */
	private extendWait(): void {
		if (this.pending?.isSent) {
			this.wait(NEXT_SIGN);
		}
	}

	/** Sets the timeout. Then the answer so far counts, because a backend may not mark its end. */
	private wait(time: number): void {
		const pending = this.pending;
		const { timer } = this.app;
		if (pending !== undefined) {
			timer.clear(pending.timer);
			pending.timer = timer.set(() => this.end(pending.answer === "" ? NO_ANSWER : undefined), time);
		}
	}

	/** Stops waiting. @param reason the error; undefined to resolve with the answer so far */
	private end(reason?: string): void {
		const { pending } = this;
		this.pending = undefined;
		this.app.timer.clear(pending?.timer);
		if (reason === undefined) {
			pending?.resolve({ text: pending.answer, emotion: pending.emotion });
		} else {
			pending?.reject(new Error(reason));
		}
	}
}

/** A backend without an assistant says so in its hello: an addition of this project. */
const reasonNotToSay = ({ backend, state }: Application): string | undefined => {
	if (backend.session === undefined) {
		return backend.isReachable ? undefined : `the device has no backend: it is ${state}`;
	}
	return hasAssistant(backend.session) ? undefined : "this backend has no assistant: it only passes on calls of tools";
};

const hasAssistant = ({ hello }: Session): boolean => !isObject(hello.features) || hello.features.listen !== false;
