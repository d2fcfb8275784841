import { type Command, InvalidArgumentError } from "commander";
import { MAX_SAID } from "../../src/hardware/assistant.js";
import { isOn, isSwitched, readPinName } from "./services/pins.js";
import type { VirtualDevice } from "./virtual-device.js";

/** The user's controls of a virtual device. */
export type SimulatedControls = Pick<VirtualDevice, "press" | "measure" | "setPin" | "setChip" | "chips" | "say">;

/** Longest press of a button, ms. */
export const MAX_PRESS = 60_000;

/** Reads how long a button is held down. @throws InvalidArgumentError */
function readMilliseconds(text: string): number {
	const milliseconds = Number(text);
	if (!(milliseconds >= 1 && milliseconds <= MAX_PRESS)) {
		throw new InvalidArgumentError(`Expected milliseconds, from 1 to ${MAX_PRESS}.`);
	}
	return milliseconds;
}

/**
 * Sets the value of a sensor.
 *
 * @throws Error if the sensor does not exist or the values do not match
 */
function measure(controls: SimulatedControls, sensor: string, values: readonly string[]): void {
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

/** Sets an input, or readings of a sensor. @throws Error if the device has none of this name, or it cannot have this value */
function setInput(controls: SimulatedControls, words: readonly string[]): void {
	const [name = "", ...level] = words[0] === "pin" ? [words.slice(0, 2).join(" "), ...words.slice(2)] : words;
	if (level.length === 0) {
		throw new Error("set: expected an input and its level: soil 1800, door on, pin 34 1800, air temperature=30");
	}
	if (!controls.chips.some(({ part }) => part === name)) {
		controls.setPin(readPinName(name), level.join(" "));
	} else if (isSwitched(level.join(" "))) {
		controls.setChip(name, isOn(level[0]) ? {} : null);
	} else {
		const readings = level.map((word) => word.split("="));
		controls.setChip(name, Object.fromEntries(readings.map(([reading, value]) => [reading, Number(value)])));
	}
}

/** The text to say to the assistant. @throws Error if it is empty */
function readText(words: readonly string[]): string {
	const text = words.join(" ").trim();
	if (text === "") {
		throw new Error("say: expected a text");
	}
	return text.slice(0, MAX_SAID);
}

/** The commands for a device's controls, at the prompt of `npm run device` and of `npm start`. */
export function addControls(commands: Command, controls: SimulatedControls): Command {
	commands
		.command("press")
		.description("press the device's button: it listens, until the next press")
		.argument("[milliseconds]", "how long; a press of 2000 or more is a long one", readMilliseconds)
		.action(async (milliseconds?: number) => void (await controls.press(milliseconds)));
	commands
		.command("measure")
		.description("set a sensor of the device: temperature 30, light 500, motion 0 9.8 0")
		.argument("<sensor>")
		.argument("<values...>", "one number, or three for motion: along x, y and z")
		.action((sensor: string, values: string[]) => measure(controls, sensor, values));
	commands
		.command("set")
		.description("set an input or sensor of a device of your own: soil 1800, door on, pin 34 1800, air temperature=30")
		.argument(
			"<input...>",
			"the part's name or the pin, and a number, on or off; a line for a serial port; readings of a sensor",
		)
		.action((words: string[]) => setInput(controls, words));
	commands
		.command("say")
		.description("say a text to the backend's assistant; the gateway has none")
		.argument("<text...>")
		.allowUnknownOption()
		.action((words: string[]) => controls.say(readText(words)));
	return commands;
}
