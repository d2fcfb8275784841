import type { Press } from "../hardware/button.js";
import type { Reading, Sensor } from "../hardware/sensor.js";
import type { TimerHandle } from "../hardware/timer.js";
import type { Words } from "../language/en.js";
import type { SettingValue } from "../settings/settings-table.js";
import type { AssistantLine } from "./assistant-line.js";
import type { ConversationOptions } from "./backend-link.js";

type Kind = SettingValue<"events">[number];

/** Milliseconds between two events of a sensor: each of them costs an answer of a model. */
const SENSOR_PAUSE = 60_000;

/** Says events of the device to the backend's assistant, in words, if the setting `events` has their kind. */
export class DeviceEvents {
	private readonly line: AssistantLine;
	private readonly options: ConversationOptions;
	/** Runs after a sensor's event was said. */
	private pause: TimerHandle | undefined;

	constructor(line: AssistantLine, options: ConversationOptions) {
		this.line = line;
		this.options = options;
	}

	/** @returns whether the press is said, and so does nothing else */
	pressed(button: string, { long }: Press): boolean {
		return this.say("button", long ? "held" : "pressed", { button });
	}

	sensed(name: string, { kind, unit }: Pick<Sensor, "kind" | "unit">, value: Reading): void {
		const { timer } = this.options;
		const values = { sensor: name, kind, value: describeReading(value, unit) };
		if (this.pause === undefined && this.say("sensor", "measured", values)) {
			this.pause = timer.set(() => {
				this.pause = undefined;
			}, SENSOR_PAUSE);
		}
	}

	timerDue(timer: string): void {
		this.say("timer", "due", { timer });
	}

	close(): void {
		this.options.timer.clear(this.pause);
	}

	/** A conversation is not interrupted by an event. */
	private say(kind: Kind, key: keyof Words, values: Readonly<Record<string, string>>): boolean {
		const { events, link, words, log } = this.options;
		const isQuiet = link.state === "idle" && !this.line.isBusy;
		if (!events.includes(kind) || !isQuiet) {
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
