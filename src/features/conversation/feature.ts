import type { Application } from "../../core/application.js";
import type { Feature, Listener } from "../../core/listener.js";
import type { Settings } from "../../hardware/hardware.js";
import { nextReminder } from "../../hardware/reminder-times.js";
import type { Reminder, Reminders } from "../../hardware/reminders.js";
import type { TimerHandle } from "../../hardware/timer.js";
import { drawAttention } from "../../sound/chime.js";
import { AssistantLine } from "./assistant-line.js";
import { ButtonQuestions } from "./button-questions.js";
import { DeviceEvents } from "./device-events.js";
import { Notice } from "./notice.js";
import { StoredReminders } from "./stored-reminders.js";

/** Timers, and the alarm of those that are due. They take slots of the heap only when there are any. */
class LazyReminders implements Listener, Reminders {
	private readonly app: Application;
	private readonly settings: Settings;
	private reminders: StoredReminders | undefined;
	private alarm: Alarm | undefined;

	constructor(app: Application, settings: Settings) {
		this.app = app;
		this.settings = settings;
		if (nextReminder(settings) !== undefined) {
			this.open();
		}
	}

	get all(): readonly Reminder[] {
		return this.reminders?.all ?? [];
	}

	set(seconds: number, text: string): Reminder {
		return this.open().set(seconds, text);
	}

	cancel(id: number): void {
		this.open().cancel(id);
	}

	private onDue({ id, text }: Pick<Reminder, "id" | "text">): void {
		const { app } = this;
		const { board, words } = app;
		app.log(`timer ${id} is due: ${text}`);
		app.show({ alert: { status: words?.timer ?? "", message: text } });
		this.alarm ??= new Alarm(app);
		this.alarm.begin();
		board.chat?.show(`timer: ${text}`);
		app.notify("notifications/timer_due", { id, text });
	}

	/** Ends the alarm. */
	onPress(): boolean {
		return this.alarm?.end() === true;
	}

	onClose(): void {
		this.reminders?.close();
		this.alarm?.end();
	}

	private open(): StoredReminders {
		this.reminders ??= new StoredReminders(this.settings, this.app, (reminder) => this.onDue(reminder));
		return this.reminders;
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

/** Talks with the backend's assistant by text, and reports the device's events to it. */
const conversation: Feature = {
	name: "conversation",
	after: ["language", "parts"],
	start(app) {
		const { board } = app;
		const { screen, settings, buttons = {} } = board;
		const [mainButton] = Object.keys(buttons);
		const kinds = app.setting("events");
		const assistant = new AssistantLine(app);
		const questions =
			screen !== undefined && mainButton !== undefined ? new ButtonQuestions(mainButton, app) : undefined;
		const reminders = settings && new LazyReminders(app, settings);
		Object.assign(board, { assistant }, questions && { questions }, reminders && { reminders });
		// A press ends an alarm before it answers a question, and is an event only if it does neither.
		app.listen(new Notice(app), reminders, questions);
		app.listen(kinds.length > 0 && new DeviceEvents(assistant, app, kinds), assistant);
	},
};

export default conversation;
