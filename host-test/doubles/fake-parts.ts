import type { Board } from "../../src/hardware/hardware.js";
import type { Button, Press } from "../../src/hardware/kinds/button.js";
import type { Light } from "../../src/hardware/kinds/light.js";
import type { Reading, Sensor } from "../../src/hardware/kinds/sensor.js";
import { FakeBoard } from "./fake-board.js";

export class FakeSensor implements Sensor {
	readonly kind = "temperature";
	readonly unit = "°C";
	onChange: ((reading: Reading) => void) | undefined;
	reading: Reading | Error;

	constructor(reading: Reading | Error) {
		this.reading = reading;
	}

	read(): Reading {
		if (this.reading instanceof Error) {
			throw this.reading;
		}
		return this.reading;
	}
}

class FakeButton implements Button {
	onPress: ((press: Press) => void) | undefined;

	press(long = false): void {
		this.onPress?.({ long, milliseconds: long ? 2_000 : 120 });
	}
}

export function boardWithParts() {
	const lamp: Light = { on: false, brightness: 50, color: 0xffffff };
	const lights = { lamp, led: { on: false } as Light };
	const sensors = { room: new FakeSensor(21.5), chip: new FakeSensor({ x: 1, y: 2 }) };
	const buttons = { boot: new FakeButton(), side: new FakeButton() };
	return Object.assign(new FakeBoard(), { lights, sensors, buttons } satisfies Partial<Board>);
}
