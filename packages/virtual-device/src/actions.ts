import { closest } from "fastest-levenshtein";
import { MAX_SAID } from "xs-mcp-firmware/hardware/assistant";
import type { BoardSensor } from "./boards.js";
import { GOOD_NETWORK, MAX_DELAY, type NetworkConditions } from "./services/network-faults.js";
import { isOn, isSwitched, readPinName } from "./services/pins.js";
import type { VirtualDevice } from "./virtual-device.js";

/** Path of a value in a document: members and indices. */
export type Path = readonly (string | number)[];

/** A value that cannot be used. The message says where it is. */
export class FieldError extends Error {
	override readonly name = "FieldError";
	readonly path: Path;

	constructor(path: Path, message: string) {
		super(path.length === 0 ? message : `${describePath(path)}: ${message}`);
		this.path = path;
	}
}

/** A path as a person writes it: "steps[2].press". */
function describePath(path: Path): string {
	return path.reduce<string>((text, key) => {
		if (typeof key === "number") {
			return `${text}[${key}]`;
		}
		return text === "" ? key : `${text}.${key}`;
	}, "");
}

/**
 * The members of an object.
 *
 * @throws FieldError if it is something else, or has members that are not `known`
 */
export function readMembers(value: unknown, path: Path, known: readonly string[]): Readonly<Record<string, unknown>> {
	const members = readObject(value, path);
	for (const name of Object.keys(members)) {
		if (!known.includes(name)) {
			throw new FieldError([...path, name], `unknown field (expected ${known.join(", ")})`);
		}
	}
	return members;
}

/** @throws FieldError */
export function readObject(value: unknown, path: Path): Readonly<Record<string, unknown>> {
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		throw new FieldError(path, "expected fields with values");
	}
	return value as Record<string, unknown>;
}

/** @throws FieldError */
export function readNumber(value: unknown, path: Path): number {
	if (typeof value !== "number" || !Number.isFinite(value)) {
		throw new FieldError(path, "expected a number");
	}
	return value;
}

/** @throws FieldError */
export function readInteger(value: unknown, path: Path, minimum: number, maximum: number): number {
	if (!Number.isInteger(value) || (value as number) < minimum || (value as number) > maximum) {
		throw new FieldError(path, `expected a whole number from ${minimum} to ${maximum}`);
	}
	return value as number;
}

/** @throws FieldError */
export function readBoolean(value: unknown, path: Path): boolean {
	if (typeof value !== "boolean") {
		throw new FieldError(path, "expected true or false");
	}
	return value;
}

/** @throws FieldError if it is something else, empty or too long */
export function readText(value: unknown, path: Path, maxLength: number): string {
	if (typeof value !== "string" || value.trim() === "" || value.length > maxLength) {
		throw new FieldError(path, `expected a text of 1 to ${maxLength} characters`);
	}
	return value;
}

/** Words that an error lists. Of more, it names the nearest one. */
const MAX_WORDS = 12;

/** @throws FieldError if it is not one of the words */
export function readWord<Word extends string>(value: unknown, path: Path, words: readonly Word[]): Word {
	if (!words.includes(value as Word)) {
		const more = words.length > MAX_WORDS ? `, …; the nearest is ${closest(String(value), words)}` : "";
		throw new FieldError(path, `expected ${words.slice(0, MAX_WORDS).join(", ")}${more}`);
	}
	return value as Word;
}

/** Does something to a device. Resolves when it is done. */
export type Action = (device: VirtualDevice) => void | Promise<void>;

/** Longest press of a button, ms. */
const MAX_PRESS = 60_000;

/** Weakest signal, dBm. */
const MIN_SIGNAL = -100;

/** How long a button is down unless said otherwise, ms. */
const PRESS_TIME = 100;

type ReadAction = (value: unknown, path: Path) => Action;

/** Actions on a device by name, for its page and scenarios. Each reads its value, or throws FieldError. */
const ACTIONS: Readonly<Record<string, ReadAction>> = {
	/** `press: 2500`, `press: {button: a, milliseconds: 2500}` or, for the main button, `press:` */
	press(value, path) {
		if (typeof value !== "object" || value === null) {
			const time = readInteger(value ?? PRESS_TIME, path, 1, MAX_PRESS);
			return (device) => device.press(time);
		}
		const { button, milliseconds = PRESS_TIME } = readMembers(value, path, ["button", "milliseconds"]);
		const time = readInteger(milliseconds, [...path, "milliseconds"], 1, MAX_PRESS);
		return (device) => device.press(time, buttonOf(device.buttons, button, [...path, "button"]));
	},

	/** `hold: {button: a, down: true}` */
	hold(value, path) {
		const { button, down } = readMembers(value, path, ["button", "down"]);
		const isDown = readBoolean(down, [...path, "down"]);
		return (device) => device.hold(buttonOf(device.buttons, button, [...path, "button"]), isDown);
	},

	/** `measure: {temperature: 30, motion: {x: 0, y: 9.8, z: 0}}` */
	measure(value, path) {
		const readings = Object.entries(readObject(value, path)).map(([sensor, reading]) => {
			const at = [...path, sensor];
			return { sensor, at, reading: sensor === "motion" ? readAxes(reading, at) : readNumber(reading, at) };
		});
		return (device) => {
			for (const { sensor, at, reading } of readings) {
				device.measure(readWord(sensor as BoardSensor, at, device.board.sensors), reading);
			}
		};
	},

	/**
	 * Values of inputs and chips on the bus, by the names of their parts, by pins, or by addresses:
	 * `set: {soil: 1800, pin 4: 0, door: on, gps: a line, air: {temperature: 30}}`; `air: off` unplugs it
	 */
	set(value, path) {
		const settings = Object.entries(readObject(value, path)).map(([which, level]) =>
			readSetting(which, level, [...path, which]),
		);
		return (device) => {
			for (const set of settings) {
				set(device);
			}
		};
	},

	/** `say: How is the weather?` */
	say(value, path) {
		const text = readText(value, path, MAX_SAID);
		return (device) => device.say(text);
	},

	/** `battery: {level: 10, charging: true}` */
	battery(value, path) {
		const { level, charging = false } = readMembers(value, path, ["level", "charging"]);
		const percent = readInteger(level, [...path, "level"], 0, 100);
		const isCharging = readBoolean(charging, [...path, "charging"]);
		return (device) => device.setBattery(percent, isCharging);
	},

	/** `mute: true` switches its microphone off */
	mute(value, path) {
		const isMuted = readBoolean(value, path);
		return (device) => {
			device.isMuted = isMuted;
		};
	},

	/** `signal: -75` */
	signal(value, path) {
		const signal = readInteger(value, path, MIN_SIGNAL, 0);
		return (device) => {
			device.signal = signal;
		};
	},

	/** `network: lost`, `network: good`, or what differs from a good one: `network: {delay: 500}` */
	network(value, path) {
		const conditions = readNetwork(value, path);
		return (device) => {
			device.network = conditions;
		};
	},

	restart: withoutValue((device) => device.restart()),

	brownOut: withoutValue((device) => device.brownOut()),
};

/** The names of all actions. */
export const ACTION_NAMES: readonly string[] = Object.keys(ACTIONS);

/**
 * Parses an action on a device.
 *
 * @param name one of {@link ACTION_NAMES}
 * @throws FieldError if the action is unknown or its value cannot be used. The action itself
 * throws one if the board lacks the part
 */
export function readAction(name: string, value: unknown, path: Path): Action {
	if (!ACTION_NAMES.includes(name)) {
		throw new FieldError(path, `unknown action (expected ${ACTION_NAMES.join(", ")})`);
	}
	return (ACTIONS[name] as ReadAction)(value, path);
}

/** Something connected to a device that is set. */
function readSetting(which: string, level: unknown, path: Path): (device: VirtualDevice) => void {
	const name = readPinName(which);
	const setting = readLevel(level, path);
	return (device) => {
		const isChip = device.chips.some(({ part, address }) => part === name || address === name);
		if (typeof setting === "object") {
			device.setChip(name, setting);
		} else if (isChip && isSwitched(level)) {
			device.setChip(name, isOn(level) ? {} : null);
		} else {
			device.setPin(name, setting);
		}
	};
}

/** Values of a chip; a text or number of a pin, which knows what it can have. */
function readLevel(level: unknown, path: Path): Readonly<Record<string, number>> | string | number {
	if (typeof level === "object") {
		return readValues(level, path);
	}
	if (typeof level === "string") {
		return level;
	}
	return typeof level === "boolean" ? Number(level) : readNumber(level, path);
}

function readValues(value: unknown, path: Path): Readonly<Record<string, number>> {
	const entries = Object.entries(readObject(value, path));
	return Object.fromEntries(entries.map(([name, each]) => [name, readNumber(each, [...path, name])]));
}

function readNetwork(value: unknown, path: Path): NetworkConditions {
	if (typeof value === "string") {
		const word = readWord(value, path, ["good", "lost", "silent"]);
		return { ...GOOD_NETWORK, ...(word !== "good" && { [word]: true }) };
	}
	const { lost = false, silent = false, delay = 0 } = readMembers(value, path, ["lost", "silent", "delay"]);
	return {
		lost: readBoolean(lost, [...path, "lost"]),
		silent: readBoolean(silent, [...path, "silent"]),
		delay: readInteger(delay, [...path, "delay"], 0, MAX_DELAY),
	};
}

function readAxes(value: unknown, path: Path): { readonly x: number; readonly y: number; readonly z: number } {
	const { x, y, z } = readMembers(value, path, ["x", "y", "z"]);
	return {
		x: readNumber(x, [...path, "x"]),
		y: readNumber(y, [...path, "y"]),
		z: readNumber(z, [...path, "z"]),
	};
}

function buttonOf(buttons: readonly string[], name: unknown, path: Path): string {
	return readWord((name ?? buttons[0]) as string, path, buttons);
}

function withoutValue(action: Action): ReadAction {
	return (value, path) => {
		if (value !== null && value !== undefined) {
			throw new FieldError(path, "expected no value");
		}
		return action;
	};
}
