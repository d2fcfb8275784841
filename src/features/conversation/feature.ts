import type { Application } from "../../core/application.js";
import { AppPart, type Feature, type Listener } from "../../core/listener.js";
import type { TimerHandle } from "../../hardware/hardware.js";
import { mainButtonOf, type Press } from "../../hardware/kinds/button.js";
import type { Reading, Sensor } from "../../hardware/kinds/sensor.js";
import { AssistantLine } from "./assistant-line.js";
import { ButtonQuestions } from "./button-questions.js";
import { Notice } from "./notice.js";
import { StoredReminders } from "./stored-reminders.js";

/** Milliseconds between two events of a sensor: each of them costs an answer of a model. */
const SENSOR_PAUSE = 60_000;

/** Parameters of `notifications/sensor_changed`. */
type SensorReading = Pick<Sensor, "kind" | "unit"> & { readonly sensor: string; readonly value: Reading };

/** Reports the device's events to the backend's assistant, in words, if the setting `events` has their kind. */
export class DeviceEvents extends AppPart implements Listener {
	private readonly line: AssistantLine;
	private readonly kinds = this.app.setting("events");
	/** Runs after a sensor's event was reported. */
	private pause: TimerHandle | undefined;

	constructor(app: Application, line: AssistantLine) {
		super(app);
		this.line = line;
	}

	/** @returns whether the press was reported, and has no other effect */
	onPress(button: string, { long }: Press): boolean {
		return this.say("button", long ? "held" : "pressed", { button });
	}

	onNotification(method: string, params: object): void {
		if (method === "notifications/sensor_changed") {
			const { sensor, kind, unit, value } = params as SensorReading;
			const values = { sensor, kind, value: describeReading(value, unit) };
			if (this.pause === undefined && this.say("sensor", "measured", values)) {
				this.pause = this.app.timer.set(() => {
					this.pause = undefined;
				}, SENSOR_PAUSE);
			}
		} else if (method === "notifications/timer_due") {
			this.say("timer", "due", { timer: (params as { readonly text: string }).text });
		}
	}

	/** A conversation is not interrupted by an event. */
	private say(
		kind: DeviceEvents["kinds"][number],
		key: "held" | "pressed" | "measured" | "due",
		values: Readonly<Record<string, string>>,
	): boolean {
		const { state, words, log } = this.app;
		const isQuiet = state === "idle" && !this.line.isBusy;
		if (!this.kinds.includes(kind) || !isQuiet) {
			return false;
		}
		let text = words?.[key] ?? key;
		for (const [name, value] of Object.entries(values)) {
			text = text.replace(`{${name}}`, () => value);
		}
		this.line.say(text).catch((error: Error) => log(`${text}: not answered: ${error.message}`));
		return true;
	}
}

/** A reading for a sentence: "21.5 °C", "temperature 21.5 °C, humidity 40 %". */
const describeReading = (reading: Reading, unit: Sensor["unit"]): string => {
	if (typeof reading === "object") {
		const unitOf = (name: string): Sensor["unit"] => (typeof unit === "object" ? unit[name] : unit);
		return Object.entries(reading)
			.map(([name, value]) => `${name} ${describeReading(value, unitOf(name))}`)
			.join(", ");
	}
	return typeof unit === "string" && unit !== "" ? `${reading} ${unit}` : String(reading);
};

/** Talks with the backend's assistant by text, and reports the device's events to it. */
export default {
	name: "conversation",
	after: ["language", "parts"],
	start(app) {
		const { board } = app;
		const { screen, settings, buttons } = board;
		const assistant = new AssistantLine(app);
		const questions = screen && mainButtonOf(buttons) ? new ButtonQuestions(app) : undefined;
		const reminders = settings && new StoredReminders(app);
		Object.assign(board, { assistant }, questions && { questions }, reminders && { reminders });
		// A press ends an alarm before it answers a question, and is an event only if it does neither.
		app.listen(new Notice(app), reminders, questions);
		app.listen(app.setting("events").length > 0 && new DeviceEvents(app, assistant), assistant);
	},
} satisfies Feature;
