import Time from "time";
import Timer from "timer";
import * as host from "virtual-host";
import { TimedButton } from "../../drivers/button.js";
import { ColoredLight } from "../../drivers/light-state.js";
import type { Chat } from "../../hardware/assistant.js";
import type { Buttons } from "../../hardware/button.js";
import type { Lights } from "../../hardware/light.js";
import type { Reading, Sensor, SensorKind, Sensors } from "../../hardware/sensor.js";

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

/** The lights, sensors, buttons and the prompt of the virtual board. */
export function openParts(): {
	readonly lights: Lights;
	readonly sensors: Sensors;
	readonly buttons: Buttons;
	readonly chat: Chat;
	close(): void;
} {
	const boot = new TimedButton({ timer: Timer, ticks: () => Time.ticks });
	const sensors: Readonly<Record<string, VirtualSensor>> = {
		temperature: new VirtualSensor("temperature", "°C", 21.5),
		light: new VirtualSensor("light", "lx", 320),
		motion: new VirtualSensor("motion", "m/s²", { x: 0, y: 0, z: 9.81 }),
	};
	// The device itself times the press: two messages of the host could come together, and look like a contact that bounces.
	host.onPress((milliseconds) => {
		boot.follow(true);
		Timer.set(() => boot.follow(false), milliseconds);
	});
	host.onReading((name, reading) => sensors[name]?.set(reading));
	return {
		lights: { led: new VirtualLight("led") },
		sensors,
		buttons: { boot },
		chat: new VirtualChat(),
		close: () => boot.close(),
	};
}
