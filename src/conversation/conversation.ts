import type { Press } from "../hardware/button.js";
import type { Face, Hardware } from "../hardware/hardware.js";
import type { Reminder } from "../hardware/reminders.js";
import type { Reading, Sensor } from "../hardware/sensor.js";
import type { TimerModule } from "../hardware/timer.js";
import type { Words } from "../language/en.js";
import type { Envelope } from "../protocols/envelope.js";
import type { SettingValue } from "../settings/settings-table.js";
import { drawAttention } from "../sound/chime.js";
import { AssistantLine } from "./assistant-line.js";
import type { BackendLink } from "./backend-link.js";
import { ButtonQuestions } from "./button-questions.js";
import { DeviceEvents } from "./device-events.js";
import { Notice } from "./notice.js";
import { StoredReminders } from "./stored-reminders.js";

export interface ConversationOptions {
	readonly board: Hardware;
	readonly link: BackendLink;
	/** The setting `events`. */
	readonly events: SettingValue<"events">;
	/** What the device says of itself. A build with this add-on has them. */
	readonly words: Words | undefined;
	readonly timer: TimerModule;
	/** Milliseconds since 1970. Default: `Date.now`. */
	readonly now?: () => number;
	readonly log: (message: string) => void;
	/** Changes the face. */
	show(change: Partial<Face>): void;
}

/** A conversation by text with the backend's assistant, to which the device tells what happens to it. */
export class Conversation {
	/** What tools use of it. */
	readonly parts: Pick<Hardware, "assistant" | "questions" | "reminders">;
	readonly #options: ConversationOptions;
	readonly #line: AssistantLine;
	readonly #events: DeviceEvents;
	readonly #notice: Notice;
	readonly #questions: ButtonQuestions | undefined;
	readonly #reminders: StoredReminders | undefined;
	/** Whether the backend wants to speak as soon as the session begins. */
	#isAsked = false;

	constructor(options: ConversationOptions) {
		const { board, link, events, words, timer, log, show } = options;
		const { chat, player, screen, settings, buttons = {} } = board;
		const [mainButton] = Object.keys(buttons);
		const sound = (): void => drawAttention(player, log);
		this.#options = options;
		this.#line = new AssistantLine({ link, timer, chat });
		this.#events = new DeviceEvents({ kinds: events, line: this.#line, link, words, timer, log });
		this.#notice = new Notice({ timer, chat, show, sound });
		if (screen !== undefined && mainButton !== undefined) {
			this.#questions = new ButtonQuestions({ mainButton, hint: words?.howToChoose, timer, chat, show, sound });
		}
		if (settings !== undefined) {
			const { now = Date.now } = options;
			this.#reminders = new StoredReminders({ settings, timer, now, log, onDue: (due) => this.#remind(due) });
		}
		this.parts = {
			assistant: this.#line,
			...(this.#questions && { questions: this.#questions }),
			...(this.#reminders && { reminders: this.#reminders }),
		};
		if (chat !== undefined) {
			chat.onLine = (text) => this.#typed(text);
		}
	}

	/** A session with the backend has begun. */
	sessionBegan(): void {
		this.#line.sessionBegan();
		if (this.#isAsked) {
			this.#ready();
		}
	}

	/** It has ended, or could not begin. */
	sessionEnded(): void {
		this.#isAsked = false;
		this.#line.sessionEnded();
	}

	/** A message of the backend that is not MCP. */
	receive(message: Envelope): void {
		const { link, log } = this.#options;
		if (message.type === "notify" || message.type === "speak_request") {
			if (link.state !== "idle") {
				log(`${message.type} dropped: the device is ${link.state}`);
			} else if (message.type === "notify") {
				this.#notice.begin(message);
			} else {
				this.#ready();
			}
			return;
		}
		if (message.type === "tts") {
			this.#notice.end();
		}
		this.#line.receive(message);
	}

	/** @returns whether the press has a meaning here, and so does nothing else */
	pressed(button: string, press: Press): boolean {
		this.#notice.end();
		return this.#questions?.pressed(button, press) === true || this.#events.pressed(button, press);
	}

	/** A sensor measures something new. */
	sensed(name: string, sensor: Pick<Sensor, "kind" | "unit">, value: Reading): void {
		this.#events.sensed(name, sensor, value);
	}

	close(): void {
		const { chat } = this.#options.board;
		if (chat !== undefined) {
			chat.onLine = undefined;
		}
		this.#line.sessionEnded();
		this.#events.close();
		this.#notice.end();
		this.#questions?.cancel();
		this.#reminders?.close();
	}

	#remind({ id, text }: Pick<Reminder, "id" | "text">): void {
		const { board, link, words, show, log } = this.#options;
		log(`timer ${id} is due: ${text}`);
		show({ alert: { status: words?.timer ?? "", message: text } });
		drawAttention(board.player, log);
		board.chat?.show(`timer: ${text}`);
		link.tell("notifications/timer_due", { id, text });
		this.#events.timerDue(text);
	}

	/** The backend may speak: https://github.com/78/xiaozhi-esp32/pull/1939. A session is requested by the message itself. */
	#ready(): void {
		const { link } = this.#options;
		this.#isAsked = link.hello === undefined;
		if (!this.#isAsked) {
			link.send("speak_ready", { state: "ready" });
		}
	}

	#typed(text: string): void {
		this.#line.say(text).catch((error: Error) => this.#options.board.chat?.show(`assistant: ${error.message}`));
	}
}
