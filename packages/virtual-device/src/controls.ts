import type { Command } from "commander";
import { readAction } from "./actions.js";
import type { VirtualDevice } from "./virtual-device.js";

/**
 * Reads an input and its level, or readings of a sensor, as {@link readAction} takes them.
 *
 * @throws Error if there is no level
 */
function readInput({ chips }: VirtualDevice, words: readonly string[]): object {
	const [name = "", ...level] = words[0] === "pin" ? [words.slice(0, 2).join(" "), ...words.slice(2)] : words;
	if (level.length === 0) {
		throw new Error("set: expected an input and its level: soil 1800, door on, pin 34 1800, air temperature=30");
	}
	if (!chips.some(({ part }) => part === name) || !level.every((word) => word.includes("="))) {
		return { [name]: level.join(" ") };
	}
	const readings = level.map((word) => word.split("="));
	return { [name]: Object.fromEntries(readings.map(([reading, value]) => [reading, Number(value)])) };
}

/** Adds the commands for a device's controls, at the prompt of `npm run device` and of `npm start`. */
export function addControls(commands: Command, device: VirtualDevice): Command {
	const act = async (name: string, value: unknown): Promise<void> => await readAction(name, value, [name])(device);
	commands
		.command("press")
		.description("press the device's button: it listens, until the next press")
		.argument("[milliseconds]", "how long; a press of 2000 or more is a long one")
		.action(async (time?: string) => await act("press", time && Number(time)));
	commands
		.command("measure")
		.description("set a sensor of the device: temperature 30, light 500, motion 0 9.8 0")
		.argument("<sensor>")
		.argument("<values...>", "one number, or three for motion: along x, y and z")
		.action(async (sensor: string, values: string[]) => {
			const [x, y, z, ...more] = values.map(Number);
			const isOne = y === undefined && sensor !== "motion";
			await act("measure", { [sensor]: isOne ? x : { x, y, z, ...more } });
		});
	commands
		.command("set")
		.description("set an input or sensor of a device of your own: soil 1800, door on, pin 34 1800, air temperature=30")
		.argument(
			"<input...>",
			"the part's name or the pin, and a number, on or off; a line for a serial port; readings of a sensor",
		)
		.action(async (words: string[]) => await act("set", readInput(device, words)));
	commands
		.command("say")
		.description("say a text to the backend's assistant; the gateway has none")
		.argument("<text...>")
		.allowUnknownOption()
		.action(async (words: string[]) => await act("say", words.join(" ")));
	return commands;
}
