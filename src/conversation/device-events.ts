import type { Press } from "../hardware/button.js";
import type { Reading, Sensor } from "../hardware/sensor.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import type { SettingValue } from "../settings/settings-table.js";
import type { AssistantLine } from "./assistant-line.js";
import type { BackendLink } from "./backend-link.js";

interface DeviceEventsOptions {
	/** The kinds that are said. */
	readonly kinds: SettingValue<"events">;
	readonly line: AssistantLine;
	readonly link: BackendLink;
	readonly timer: TimerModule;
	readonly log: (message: string) => void;
}

type Kind = SettingValue<"events">[number];

/** Milliseconds between two events of a sensor: each of them costs an answer of a model. */
export const SENSOR_PAUSE = 60_000;

/** Says events of the device to the backend's assistant, in words, if the setting `events` has their kind. */
export class DeviceEvents {
	readonly #options: DeviceEventsOptions;
	/** Runs after a sensor's event was said. */
	#pause: TimerHandle | undefined;

	constructor(options: DeviceEventsOptions) {
		this.#options = options;
	}

	/** @returns whether the press is said, and so does nothing else */
	pressed(button: string, { long }: Press): boolean {
		return this.#say("button", `The button "${button}" was ${long ? "held down" : "pressed"}.`);
	}

	sensed(name: string, { kind, unit }: Pick<Sensor, "kind" | "unit">, value: Reading): void {
		const { timer } = this.#options;
		const measured = typeof value === "number" ? value : JSON.stringify(value);
		const text = `The sensor "${name}" (${kind}) now measures ${measured} ${unit}.`;
		if (this.#pause === undefined && this.#say("sensor", text)) {
			this.#pause = timer.set(() => {
				this.#pause = undefined;
			}, SENSOR_PAUSE);
		}
	}

	timerDue(text: string): void {
		this.#say("timer", `The timer "${text}" is due.`);
	}

	close(): void {
		this.#options.timer.clear(this.#pause);
	}

	/** A conversation is not interrupted by an event. */
	#say(kind: Kind, text: string): boolean {
		const { kinds, line, link, log } = this.#options;
		const isQuiet = link.state === "idle" && !line.isBusy;
		if (!kinds.includes(kind) || !isQuiet) {
			return false;
		}
		line.say(text).catch((error: Error) => log(`${text}: not answered: ${error.message}`));
		return true;
	}
}
