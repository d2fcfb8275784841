import { createInterface } from "node:readline";
import { InvalidArgumentError } from "commander";
import { MAX_SAID } from "../../src/hardware/assistant.js";
import type { VirtualDevice } from "./virtual-device.js";

/** The user's controls of a virtual device. */
export type SimulatedControls = Pick<VirtualDevice, "press" | "measure" | "say">;

/** Longest press of a button, ms. */
export const MAX_PRESS = 60_000;

/** Reads how long a button is held down. @throws InvalidArgumentError */
export function readMilliseconds(text: string): number {
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

/** The text to say to the assistant. @throws Error if it is empty */
function readSaid(words: readonly string[]): string {
	const text = words.join(" ").trim();
	if (text === "") {
		throw new Error("say: expected a text");
	}
	return text.slice(0, MAX_SAID);
}

const HELP = "commands: press [MILLISECONDS], measure SENSOR VALUE …, say TEXT, help, quit";

/** Carries out the commands that come on an input, a line each, until `quit` or its end. `help` names them. */
export async function takeCommands(controls: SimulatedControls, input: NodeJS.ReadableStream): Promise<void> {
	for await (const line of createInterface({ input })) {
		const words = line.trim().split(/\s+/);
		if (words[0] === "quit") {
			return;
		}
		try {
			await obey(controls, words);
		} catch (error) {
			console.error((error as Error).message);
		}
	}
}

async function obey(controls: SimulatedControls, [command, first, ...rest]: readonly string[]): Promise<void> {
	switch (command) {
		case "":
			break;
		case "press":
			await controls.press(first === undefined ? undefined : readMilliseconds(first));
			break;
		case "measure":
			measure(controls, first ?? "", rest);
			break;
		case "say":
			controls.say(readSaid([first ?? "", ...rest]));
			break;
		case "help":
			console.log(HELP);
			break;
		default:
			throw new Error(`${command}: unknown command; ${HELP}`);
	}
}
