/// <reference path="../../../types/simulator-controls.d.ts" />
import SimulatedButton from "button";
import SimulatedLed from "led";
import Time from "time";
import Timer from "timer";
import { TimedButton } from "../../drivers/button.js";
import type { PartsByKind } from "../../kinds/index.js";
import type { Light } from "../../kinds/light.js";

/** The LED of the simulated device, where the device that was chosen in the simulator has one. */
const openLight = (): Light & { close(): void } => {
	const led = new SimulatedLed();
	let isOn = false;
	return {
		get on() {
			return isOn;
		},
		set on(on) {
			isOn = on;
			led.write(on ? 1 : 0);
		},
		close: () => led.close(),
	};
};

/** The button of the simulated device, which is also pressed by the key Del, and its LED. */
export const openControls = (): Required<Pick<PartsByKind, "buttons" | "lights">> & { close(): void } => {
	const button = new TimedButton({ timer: Timer, ticks: () => Time.ticks });
	const simulated = new SimulatedButton({ onPush: (value) => button.follow(value === 1) });
	const light = openLight();
	return {
		buttons: { button },
		lights: { led: light },
		close() {
			simulated.close();
			button.close();
			light.close();
		},
	};
};
