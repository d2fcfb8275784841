import type { Application, Feature, Listener } from "../app/application.js";
import type { Press } from "../hardware/button.js";
import type { Hardware, Settings } from "../hardware/hardware.js";
import { nextReminder } from "../hardware/reminder-times.js";
import type { Reminder, Reminders } from "../hardware/reminders.js";
import type { TimerHandle } from "../hardware/timer.js";
import type { Envelope } from "../protocols/envelope.js";
import { drawAttention } from "../sound/chime.js";
import { AssistantLine } from "./assistant-line.js";
import { ButtonQuestions } from "./button-questions.js";
import { DeviceEvents, type SensorReading } from "./device-events.js";
import { Notice } from "./notice.js";
import { StoredReminders } from "./stored-reminders.js";

/**
 * A conversation by text with the backend's assistant, to which the device reports its events. It is the part
 * `reminders` itself, and takes slots of the heap for them only when there are any.
 */
export class Conversation implements Listener, Reminders {
	/** The members that tools use. */
	readonly parts: Pick<Hardware, "assistant" | "questions" | "reminders">;
	private readonly app: Application;
	private readonly line: AssistantLine;
	private readonly events: DeviceEvents | undefined;
	private notice: Notice | undefined;
	private readonly questions: ButtonQuestions | undefined;
	private reminders: StoredReminders | undefined;
	private alarm: Alarm | undefined;
	/** Whether the backend wants to speak as soon as the session begins. */
	private isAsked = false;

	/** @throws SettingError */
	constructor(app: Application) {
		const { chat, screen, settings, buttons = {} } = app.board;
		const [mainButton] = Object.keys(buttons);
		const events = app.setting("events");
		this.app = app;
		this.line = new AssistantLine(app);
		if (events.length > 0) {
			this.events = new DeviceEvents(this.line, app, events);
		}
		if (screen !== undefined && mainButton !== undefined) {
			this.questions = new ButtonQuestions(mainButton, app);
		}
		if (settings !== undefined && nextReminder(settings) !== undefined) {
			this.remind(settings);
		}
		this.parts = {
			assistant: this.line,
			...(this.questions && { questions: this.questions }),
			...(settings && { reminders: this }),
		};
		if (chat !== undefined) {
			chat.onLine = (text) => {
				this.line.say(text).catch((error: Error) => chat.show(`assistant: ${error.message}`));
			};
		}
	}

	onSession(): void {
		this.line.onSession();
		if (this.isAsked) {
			this.ready();
		}
	}

	onSessionLost(): void {
		this.isAsked = false;
		this.line.onSessionLost();
	}

	onMessage(message: Envelope): void {
		const { state, log } = this.app;
		if (message.type === "notify" || message.type === "speak_request") {
			if (state !== "idle") {
				log(`${message.type} dropped: the device is ${state}`);
			} else if (message.type === "notify") {
				this.notice ??= new Notice(this.app);
				this.notice.begin(message);
			} else {
				this.ready();
			}
			return;
		}
		if (message.type === "tts") {
			this.notice?.end();
		}
		this.line.onMessage(message);
	}

	/** @returns whether the press has a meaning here, and so does nothing else */
	onPress(button: string, press: Press): boolean {
		this.notice?.end();
		if (this.alarm?.end()) {
			return true;
		}
		return this.questions?.onPress(button, press) === true || this.events?.onPress(button, press) === true;
	}

	onNotification(method: string, params: object): void {
		if (method === "notifications/sensor_changed") {
			this.events?.onReading(params as SensorReading);
		}
	}

	onClose(): void {
		const { chat } = this.app.board;
		if (chat !== undefined) {
			chat.onLine = undefined;
		}
		this.line.onSessionLost();
		this.events?.close();
		this.notice?.end();
		this.questions?.cancel();
		this.reminders?.close();
		this.alarm?.end();
	}

	get all(): readonly Reminder[] {
		return this.reminders?.all ?? [];
	}

	set(seconds: number, text: string): Reminder {
		const { settings } = this.app.board;
		const reminders = this.reminders ?? (settings && this.remind(settings));
		if (reminders === undefined) {
			throw new Error("this board cannot keep timers");
		}
		return reminders.set(seconds, text);
	}

	cancel(id: number): void {
		if (this.reminders === undefined) {
			throw new Error(`timer ${id} not found`);
		}
		this.reminders.cancel(id);
	}

	private remind(settings: Settings): StoredReminders {
		this.reminders = new StoredReminders(settings, this.app, this);
		return this.reminders;
	}

	/** A timer is due. */
	onDue({ id, text }: Pick<Reminder, "id" | "text">): void {
		const { app } = this;
		const { board, words } = app;
		app.log(`timer ${id} is due: ${text}`);
		app.show({ alert: { status: words?.timer ?? "", message: text } });
		this.alarm ??= new Alarm(app);
		this.alarm.begin();
		board.chat?.show(`timer: ${text}`);
		app.notify("notifications/timer_due", { id, text });
		this.events?.timerDue(text);
	}

	/** The backend may speak: https://github.com/78/xiaozhi-esp32/pull/1939. A session is requested by the message itself. */
	private ready(): void {
		const { app } = this;
		this.isAsked = app.backend.session === undefined;
		if (!this.isAsked) {
			app.send("speak_ready", { state: "ready" });
		}
	}
}

/** How often the chime is played, unless a button is pressed before. */
const RINGS = 5;

/** Milliseconds from chime to chime. */
const RING_INTERVAL = 4_000;

/** Plays the chime again and again, because nobody may be near. Silent on a board without a player. */
class Alarm {
	private readonly app: Application;
	private left = 0;
	private ringing: TimerHandle | undefined;

	constructor(app: Application) {
		this.app = app;
	}

	/** Begins to ring, or begins again. */
	begin(): void {
		this.end();
		this.left = RINGS;
		this.ring();
	}

	/** @returns whether it was ringing */
	end(): boolean {
		const wasRinging = this.ringing !== undefined;
		this.app.timer.clear(this.ringing);
		this.ringing = undefined;
		return wasRinging;
	}

	private ring(): void {
		const { board, timer, log } = this.app;
		const { player } = board;
		this.left -= 1;
		drawAttention(player, log);
		this.ringing = this.left === 0 || player === undefined ? undefined : timer.set(() => this.ring(), RING_INTERVAL);
	}
}

/** Talks with the backend's assistant by text. */
const conversation: Feature = {
	name: "conversation",
	after: ["language", "parts"],
	start(app) {
		const conversation = new Conversation(app);
		Object.assign(app.board, conversation.parts);
		app.listen(conversation);
	},
};

export default conversation;
