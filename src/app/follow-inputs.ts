import type { Press } from "../hardware/button.js";
import type { Hardware } from "../hardware/hardware.js";
import type { Reading, Sensor } from "../hardware/sensor.js";

export interface InputEvents {
	/** @param isMain whether it is the button with which a person talks to the device */
	onPress(button: string, press: Press, isMain: boolean): void;
	onReading(name: string, sensor: Sensor, reading: Reading): void;
}

/**
 * Follows a board's buttons and sensors.
 *
 * @returns a function that ends it
 */
export function followInputs({ buttons = {}, sensors = {} }: Hardware, events: InputEvents): () => void {
	const [main] = Object.keys(buttons);
	for (const [name, button] of Object.entries(buttons)) {
		button.onPress = (press) => events.onPress(name, press, name === main);
	}
	for (const [name, sensor] of Object.entries(sensors)) {
		sensor.onChange = (reading) => events.onReading(name, sensor, reading);
	}
	return () => {
		for (const button of Object.values(buttons)) {
			button.onPress = undefined;
		}
		for (const sensor of Object.values(sensors)) {
			sensor.onChange = undefined;
		}
	};
}
