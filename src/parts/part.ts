import type { Button } from "../hardware/button.js";
import type { Light } from "../hardware/light.js";
import type { SerialLine } from "../hardware/line.js";
import type { Sensor } from "../hardware/sensor.js";
import type { Servo } from "../hardware/servo.js";
import type { Switch } from "../hardware/switch.js";
import type { Runtime } from "../hardware/timer.js";

/** A part's use of a pin. Parts on one bus share its pins. */
export type PinUse = "input" | "output" | "analog" | "bus";

/** A pin of a part, for the check against the chip. */
export interface UsedPin {
	readonly pin: number;
	readonly use: PinUse;
	/** A resistor that the chip is to have there. */
	readonly pull?: "up" | "down" | undefined;
}

/** The platform's services for a part that opens. */
export interface PartIo extends Runtime {
	/** The part's name. */
	readonly name: string;
	/**
	 * The default export of a module of the SDK: "embedded:io/digital".
	 *
	 * @throws Error if the build lacks it
	 */
	load<Export>(module: string): Export;
	/**
	 * A bus of the target, by its name: "default".
	 *
	 * @throws Error if the target has none of this name
	 */
	bus(name: string): object;
	/** A monotonic clock: milliseconds, as a 32-bit number. */
	readonly ticks: () => number;
}

/** Members of an opened part. */
export type PartKind = Exclude<keyof OpenedPart, "sessionEnded" | "close">;

/** A part at work: one of these, by which tools and clients reach it. */
export interface OpenedPart {
	readonly switch?: Switch;
	readonly light?: Light;
	readonly sensor?: Sensor;
	readonly servo?: Servo;
	readonly line?: SerialLine;
	readonly button?: Button;
	/** No session with the backend is left. */
	sessionEnded?(): void;
	close(): void;
}

/** A part as data: what `relay({ pin: 26 })` makes. It does nothing until it is opened, so a chip keeps it in flash. */
export interface Part {
	/** Its kind of hardware: a build has the tools for it. */
	readonly makes: PartKind;
	readonly pins: readonly UsedPin[];
	/** The error in its options: "maxOn: expected …". Undefined if it can be used. */
	readonly fault: string | undefined;
	/** Opens it. What does not answer is tried again: this never throws for that. */
	open(io: PartIo): OpenedPart;
}

/** Options of every part. */
export interface PartOptions {
	/** Its name for people: "Water pump". */
	readonly title?: string;
}

/** The highest number that a pin of any chip has. */
const MAX_PIN = 54;

/** The first of several checks that found something. Each is what is wrong, or false. */
export const firstFault = (...checks: readonly (string | false | undefined)[]): string | undefined =>
	checks.find((check) => typeof check === "string") as string | undefined;

/** Checks the names of a part's options. @param known has each of them */
export const optionFault = <Options extends object>(
	options: Options,
	known: Readonly<Record<keyof Options, true>>,
): string | undefined => {
	const names = Object.keys(known);
	const unknown = Object.keys(options).find((name) => !names.includes(name));
	return unknown === undefined ? undefined : `unknown option ${unknown}, expected ${names.join(", ")}`;
};

/** Checks a number of a part's options. @returns the error; false if it is valid, or optional and absent */
export const numberFault = (
	name: string,
	value: unknown,
	{ min, max, unit = "", optional = true }: NumberRange,
): string | false => {
	if (value === undefined && optional) {
		return false;
	}
	const isIn = typeof value === "number" && Number.isFinite(value) && value >= min && value <= max;
	return (
		!isIn && `${name}: expected a number from ${min} to ${max}${unit === "" ? "" : ` ${unit}`}, got ${shown(value)}`
	);
};

interface NumberRange {
	readonly min: number;
	readonly max: number;
	readonly unit?: string;
	readonly optional?: boolean;
}

/** Checks the two ends of a range of a part's options: `min` and `max`. */
export const rangeFault = (min: number, max: number, range: NumberRange): string | undefined =>
	firstFault(
		numberFault("min", min, range),
		numberFault("max", max, range),
		min >= max && `max: expected more than min, ${min}, got ${max}`,
	);

/** Checks the number of a pin. Whether a chip has it is checked at the build. */
export const pinFault = (pin: unknown, name = "pin"): string | false => {
	const isPin = Number.isInteger(pin) && (pin as number) >= 0 && (pin as number) <= MAX_PIN;
	return !isPin && `${name}: expected the number of a pin, got ${shown(pin)}`;
};

/** Checks a word of a part's options, which may be absent. */
export const wordFault = (name: string, value: unknown, words: readonly string[]): string | false => {
	const isKnown = value === undefined || words.includes(value as string);
	return !isKnown && `${name}: expected ${words.map(shown).join(" or ")}, got ${shown(value)}`;
};

const shown = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : String(value));
