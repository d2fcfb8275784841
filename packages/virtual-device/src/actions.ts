import { closest } from "fastest-levenshtein";
import { MAX_SAID } from "xs-mcp-firmware/hardware/assistant";
import * as z from "zod";
import { GOOD_NETWORK, MAX_DELAY, type NetworkConditions } from "./services/network-faults.js";
import { isOn, isSwitched, readPinName } from "./services/pins.js";
import type { VirtualDevice } from "./virtual-device.js";

/** Path of a value in a document: members and indices. */
export type Path = readonly (string | number)[];

/** A value that cannot be used. The message says where it is: "steps[2].press". */
export class FieldError extends Error {
	override readonly name = "FieldError";
	readonly path: Path;

	constructor(path: Path, message: string) {
		super(path.length === 0 ? message : `${z.core.toDotPath(path)}: ${message}`);
		this.path = path;
	}
}

/** Reads a value. @throws FieldError that names the first field which cannot be used */
export function read<Value>(schema: z.ZodType<Value>, value: unknown, path: Path): Value {
	const { data, error } = schema.safeParse(value);
	const [issue] = error?.issues ?? [];
	if (issue !== undefined) {
		const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
		throw new FieldError([...path, ...(issue.path as Path), ...unknown], issue.message);
	}
	return data as Value;
}

const NO_FIELDS = "expected fields with values";

/** Makes a schema of an object that has no other members than these. */
export const fields = <Shape extends z.ZodRawShape>(shape: Shape) =>
	z.strictObject(shape, {
		error: ({ code }) =>
			code === "unrecognized_keys" ? `unknown field (expected ${Object.keys(shape).join(", ")})` : NO_FIELDS,
	});

/** Makes a schema of an object whose members have any names. */
export const record = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value, NO_FIELDS);

export function wholeNumber(minimum: number, maximum: number) {
	const error = `expected a whole number from ${minimum} to ${maximum}`;
	return z.int(error).min(minimum, error).max(maximum, error);
}

const number = z.number("expected a number");
const flag = z.boolean("expected true or false");
const nothing = z.null("expected no value").optional();

function text(maxLength: number) {
	const error = `expected a text of 1 to ${maxLength} characters`;
	return z.string(error).regex(/\S/, error).max(maxLength, error);
}

/** Maximum number of words that an error lists. If there are more, it names only the nearest one. */
const MAX_WORDS = 12;

export const oneOf = <Word extends string>(words: readonly Word[]) =>
	z.enum(words as [Word, ...Word[]], {
		error({ input }) {
			const more = words.length > MAX_WORDS ? `, …; the nearest is ${closest(String(input), words)}` : "";
			return `expected ${words.slice(0, MAX_WORDS).join(", ")}${more}`;
		},
	});

/** Does something to a device. Resolves when it is done. */
export type Action = (device: VirtualDevice) => void | Promise<void>;

/** Longest press of a button, ms. */
const MAX_PRESS = 60_000;

/** Weakest signal, dBm. */
const MIN_SIGNAL = -100;

/** How long a button is down unless said otherwise, ms. */
const PRESS_TIME = 100;

type ReadAction = (value: unknown, path: Path) => Action;

/** Makes an action with a value. @param act also gets the path of the value, for errors about missing parts */
const action =
	<Value>(
		schema: z.ZodType<Value>,
		act: (device: VirtualDevice, value: Value, path: Path) => void | Promise<void>,
	): ReadAction =>
	(value, path) => {
		const given = read(schema, value, path);
		return (device) => act(device, given, path);
	};

const pressTime = wholeNumber(1, MAX_PRESS).default(PRESS_TIME);
const press = action(pressTime, (device, milliseconds) => device.press(milliseconds));
const pressButton = action(
	fields({ button: z.unknown().optional(), milliseconds: pressTime }),
	(device, { button, milliseconds }, path) => device.press(milliseconds, buttonOf(device, button, path)),
);

const axes = fields({ x: number, y: number, z: number });

/** Actions on a device by name, for its page and scenarios. Each reads its value, or throws FieldError. */
const ACTIONS: Readonly<Record<string, ReadAction>> = {
	/** `press: 2500`, `press: {button: a, milliseconds: 2500}` or, for the main button, `press:` */
	press: (value, path) =>
		typeof value === "object" && value !== null ? pressButton(value, path) : press(value ?? undefined, path),

	/** `hold: {button: a, down: true}` */
	hold: action(fields({ button: z.unknown().optional(), down: flag }), (device, { button, down }, path) =>
		device.hold(buttonOf(device, button, path), down),
	),

	/** `measure: {temperature: 30, motion: {x: 0, y: 9.8, z: 0}}` */
	measure: action(z.object({ motion: axes }, NO_FIELDS).partial().catchall(number), (device, readings, path) => {
		for (const [sensor, reading = 0] of Object.entries(readings)) {
			device.measure(read(oneOf(device.board.sensors), sensor, [...path, sensor]), reading);
		}
	}),

	/**
	 * Values of inputs and chips on the bus, by the names of their parts, by pins, or by addresses:
	 * `set: {soil: 1800, pin 4: 0, door: on, gps: a line, air: {temperature: 30}}`; `air: off` unplugs it
	 */
	set(value, path) {
		const settings = Object.entries(read(record(z.unknown()), value, path)).map(([which, level]) =>
			readSetting(which, level, [...path, which]),
		);
		return (device) => {
			for (const set of settings) {
				set(device);
			}
		};
	},

	/** `say: How is the weather?` */
	say: action(text(MAX_SAID), (device, words) => device.say(words)),

	/** `battery: {level: 10, charging: true}` */
	battery: action(
		fields({ level: wholeNumber(0, 100), charging: flag.default(false) }),
		(device, { level, charging }) => device.setBattery(level, charging),
	),

	/** `mute: true` switches its microphone off */
	mute: action(flag, (device, isMuted) => {
		device.isMuted = isMuted;
	}),

	/** `signal: -75` */
	signal: action(wholeNumber(MIN_SIGNAL, 0), (device, signal) => {
		device.signal = signal;
	}),

	/** `network: lost`, `network: good`, or what differs from a good one: `network: {delay: 500}` */
	network(value, path) {
		const conditions = readNetwork(value, path);
		return (device) => {
			device.network = conditions;
		};
	},

	restart: action(nothing, (device) => device.restart()),

	brownOut: action(nothing, (device) => device.brownOut()),
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

/** Reads values for a chip, or a level for a pin. Whether the pin can have that level is checked when it is set. */
function readSetting(which: string, level: unknown, path: Path): (device: VirtualDevice) => void {
	const name = readPinName(which);
	if (typeof level === "object") {
		const values = read(record(number), level, path);
		return (device) => device.setChip(name, values);
	}
	const setting =
		typeof level === "string" ? level : read(number, typeof level === "boolean" ? Number(level) : level, path);
	return (device) => {
		const isChip = device.chips.some(({ part, address }) => part === name || address === name);
		if (isChip && isSwitched(level)) {
			device.setChip(name, isOn(level) ? {} : null);
		} else {
			device.setPin(name, setting);
		}
	};
}

const network = fields({
	lost: flag.default(false),
	silent: flag.default(false),
	delay: wholeNumber(0, MAX_DELAY).default(0),
});

function readNetwork(value: unknown, path: Path): NetworkConditions {
	if (typeof value !== "string") {
		return read(network, value, path);
	}
	const word = read(oneOf(["good", "lost", "silent"]), value, path);
	return { ...GOOD_NETWORK, ...(word !== "good" && { [word]: true }) };
}

function buttonOf({ buttons }: VirtualDevice, name: unknown, path: Path): string {
	return read(oneOf(buttons), name ?? buttons[0], [...path, "button"]);
}
