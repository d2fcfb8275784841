import type { Press } from "../hardware/button.js";
import type { Hardware } from "../hardware/hardware.js";
import type { Reading, Sensor } from "../hardware/sensor.js";

/** The application, as its inputs need it. */
export interface InputActions {
	tell(method: string, params: object): void;
	/** @returns whether the press has another meaning, and so does nothing else */
	pressed(button: string, press: Press): boolean;
	/** A sensor measures something new. */
	sensed(name: string, sensor: Sensor, value: Reading): void;
	/** A sensor or a switch has changed, or a line has arrived. */
	changed(): void;
	/** The user starts or stops talking to the device. */
	talk(): void;
	/** Somebody has pressed a button. */
	used(): void;
	/** Somebody wants to know more about the device. */
	explain(): void;
	log(message: string): void;
}

/**
 * Reports a board's buttons, sensors, switches and serial lines to the backend. As on the C++ firmware, a press of the first button starts or
 * stops listening, and a long press starts the set-up. A long press of any button shows details.
 *
 * @returns closes it
 */
export const followInputs = (
	{ buttons = {}, sensors = {}, switches = {}, lines = {}, wifiSetup }: Hardware,
	actions: InputActions,
): { close(): void } => {
	const [main] = Object.keys(buttons);
	const follow = (button: string, press: Press): void => {
		const { long, milliseconds } = press;
		actions.used();
		actions.log(`button ${button}: ${long ? "long press" : "press"}`);
		actions.tell("notifications/button_pressed", { button, long, milliseconds });
		if (actions.pressed(button, press)) {
			return;
		}
		if (long) {
			actions.explain();
		}
		if (button === main) {
			if (long) {
				wifiSetup?.begin();
			} else {
				actions.talk();
			}
		}
	};
	for (const [name, button] of Object.entries(buttons)) {
		button.onPress = (press) => follow(name, press);
	}
	for (const [name, sensor] of Object.entries(sensors)) {
		sensor.onChange = (value) => {
			const { kind, unit } = sensor;
			actions.tell("notifications/sensor_changed", { sensor: name, kind, value, unit });
			actions.sensed(name, sensor, value);
			actions.changed();
		};
	}
	for (const [name, each] of Object.entries(switches)) {
		each.onChange = (on, cause) => {
			actions.log(`switch ${name}: ${on ? "on" : "off"} (${cause})`);
			actions.tell("notifications/switch_changed", { switch: name, on, cause });
			actions.changed();
		};
	}
	for (const [name, line] of Object.entries(lines)) {
		line.onLine = (text) => {
			actions.tell("notifications/line_received", { line: name, text });
			actions.changed();
		};
	}
	return {
		close() {
			for (const button of Object.values(buttons)) {
				button.onPress = undefined;
			}
			for (const sensor of Object.values(sensors)) {
				sensor.onChange = undefined;
			}
			for (const each of Object.values(switches)) {
				each.onChange = undefined;
			}
			for (const line of Object.values(lines)) {
				line.onLine = undefined;
			}
		},
	};
};
