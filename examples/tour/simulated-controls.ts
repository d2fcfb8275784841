import { InvalidArgumentError } from "commander";
import type { VirtualDevice } from "../../virtual-device/src/index.js";

/** What a person does to a virtual device. */
export type SimulatedControls = Pick<VirtualDevice, "press" | "measure">;

/** Milliseconds that a button may be held down. */
const LONGEST_PRESS = 60_000;

/** Reads how long a button is held down. @throws InvalidArgumentError */
export function readMilliseconds(text: string): number {
	const milliseconds = Number(text);
	if (!(milliseconds >= 1 && milliseconds <= LONGEST_PRESS)) {
		throw new InvalidArgumentError(`Expected milliseconds, from 1 to ${LONGEST_PRESS}.`);
	}
	return milliseconds;
}

/**
 * Sets what a sensor measures.
 *
 * @throws Error if there is no such sensor, or if it does not measure such values
 */
export function measure(controls: SimulatedControls, sensor: string, values: readonly string[]): void {
	const numbers = values.map(Number);
	if (!["temperature", "light", "motion"].includes(sensor)) {
		throw new Error(`${sensor}: expected temperature, light or motion`);
	}
	if (numbers.length !== (sensor === "motion" ? 3 : 1) || !numbers.every(Number.isFinite)) {
		throw new Error(`${sensor}: expected ${sensor === "motion" ? "three numbers, along x, y and z" : "one number"}`);
	}
	const [x = 0, y = 0, z = 0] = numbers;
	controls.measure(sensor, sensor === "motion" ? { x, y, z } : x);
}
