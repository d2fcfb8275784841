import Time from "time";
import Timer from "timer";
import * as host from "virtual-host";
import { TimedButton } from "../../drivers/button.js";
import { ColoredLight } from "../../drivers/light-state.js";
import type { Chat } from "../../hardware/assistant.js";
import type { Buttons } from "../../hardware/button.js";
import type { Lights } from "../../hardware/light.js";
import type { Reading, Sensor, SensorKind, Sensors } from "../../hardware/sensor.js";

/** Milliseconds that a button stays down, and up: longer than a contact bounces. */
const MIN_HOLD = 100;

/** A button that the user holds. What the host sends together would look like a contact that bounces: the device spaces it. */
class VirtualButton extends TimedButton {
	/** When the next change may begin. */
	#next = Time.ticks;

	constructor() {
		super({ timer: Timer, ticks: () => Time.ticks });
	}

	override follow(isDown: boolean): void {
		const wait = Math.max(0, (this.#next - Time.ticks) | 0);
		this.#next = Time.ticks + wait + MIN_HOLD;
		Timer.set(() => super.follow(isDown), wait);
	}
}

/** A light whose changes are shown to the user. */
class VirtualLight extends ColoredLight {
	readonly #name: string;

	constructor(name: string) {
		super();
		this.#name = name;
	}

	protected show(): void {
		host.showLight(this.#name, { on: this.on, brightness: this.brightness, color: this.color });
	}
}

/** A sensor whose value the user enters. */
class VirtualSensor implements Sensor {
	readonly kind: SensorKind;
	readonly unit: string;
	onChange: ((reading: Reading) => void) | undefined;
	#reading: Reading;

	constructor(kind: SensorKind, unit: string, reading: Reading) {
		this.kind = kind;
		this.unit = unit;
		this.#reading = reading;
	}

	read(): Reading {
		return this.#reading;
	}

	set(reading: Reading): void {
		this.#reading = reading;
		this.onChange?.(reading);
	}
}

/** What the user types and reads at the prompt. */
class VirtualChat implements Chat {
	onLine: ((text: string) => void) | undefined;

	constructor() {
		host.onChat((text) => this.onLine?.(text));
	}

	show(line: string): void {
		host.showChat(line);
	}
}

const SENSORS: Readonly<Record<SensorKind, () => VirtualSensor>> = {
	temperature: () => new VirtualSensor("temperature", "°C", 21.5),
	light: () => new VirtualSensor("light", "lx", 320),
	motion: () => new VirtualSensor("motion", "m/s²", { x: 0, y: 0, z: 9.81 }),
};

interface PartNames {
	readonly buttons: readonly string[];
	readonly lights: readonly string[];
	readonly sensors: readonly SensorKind[];
}

/** The lights, sensors and buttons of a virtual board, and its prompt. */
export function openParts(board: PartNames): {
	readonly lights?: Lights;
	readonly sensors?: Sensors;
	readonly buttons?: Buttons;
	readonly chat: Chat;
	close(): void;
} {
	const buttons = byName(board.buttons, () => new VirtualButton());
	const sensors = byName(board.sensors, (kind) => SENSORS[kind]());
	host.onButton((name, isDown) => buttons[name]?.follow(isDown));
	// The device itself times the press: the host may be busy meanwhile.
	host.onPress((name, milliseconds) => {
		buttons[name]?.follow(true);
		Timer.set(() => buttons[name]?.follow(false), milliseconds);
	});
	host.onReading((name, reading) => sensors[name]?.set(reading));
	return {
		...(board.lights.length > 0 && { lights: byName(board.lights, (name) => new VirtualLight(name)) }),
		...(board.sensors.length > 0 && { sensors }),
		...(board.buttons.length > 0 && { buttons }),
		chat: new VirtualChat(),
		close() {
			for (const button of Object.values(buttons)) {
				button.close();
			}
		},
	};
}

function byName<Name extends string, Part>(
	names: readonly Name[],
	open: (name: Name) => Part,
): Readonly<Record<string, Part>> {
	return Object.fromEntries(names.map((name) => [name, open(name)]));
}
