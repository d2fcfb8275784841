import type { ChipAddress, ChipValues } from "../../platform/io/bus.js";
import { PIN_KINDS, type PinKind } from "../../platform/io/pins.js";
import { readingsOf } from "../../platform/io/sensors.js";
import type { Environment } from "../environment.js";
import { type Deliver, makeService } from "./service.js";

/** A strip of LEDs. */
export interface PixelsState {
	/** 0xRRGGBB of each; of a long strip, of the first ones. */
	readonly colors: readonly number[];
	readonly length: number;
	/** Percent. */
	readonly brightness: number;
}

/** A pin that is open. */
export interface PinState {
	readonly pin: number;
	readonly kind: PinKind;
	/** Its part, in a project with parts. */
	readonly part?: string;
	/** Whether its part is on while the pin is low. */
	readonly isInverted?: true;
	/**
	 * 0 or 1; the value of the converter; percent of a PWM; microseconds of a servo's pulse; counted pulses; microseconds of a pulse;
	 * the last line of a serial port
	 */
	readonly value: number | string | PixelsState;
}

/** Whether the value of a pin is set from outside. */
export function isInput({ kind }: PinState): boolean {
	return PIN_KINDS[kind].maximum !== undefined;
}

/**
 * The input to set, and its new level.
 *
 * @param which the number of the pin, or the name of the part that has it
 * @param level a number, "on" or "off"; of a serial port, a line
 * @throws Error if no such input is open, RangeError if it cannot have this level
 */
export function findInput(pins: readonly PinState[], which: number | string, level: number | string) {
	const found = pins.find((each) => isInput(each) && (each.pin === which || each.part === which));
	if (found === undefined) {
		const inputs = pins.filter(isInput).map(({ pin, part }) => part ?? `pin ${pin}`);
		const have = inputs.length === 0 ? "the device has no inputs" : `expected ${inputs.join(", ")}`;
		throw new Error(`${typeof which === "number" ? `pin ${which}` : which}: ${have}`);
	}
	const name = found.part ?? `pin ${found.pin}`;
	const { maximum = 1 } = PIN_KINDS[found.kind];
	if (found.kind === "receive") {
		const line = String(level);
		if (line.length > maximum) {
			throw new RangeError(`${name}: expected a line of at most ${maximum} characters, got ${line.length}`);
		}
		return { pin: found.pin, level: line };
	}
	const number = isSwitched(level) ? Number(isOn(level)) : Number(level === "" ? Number.NaN : level);
	if (!(number >= 0 && number <= maximum)) {
		throw new RangeError(`${name}: expected a number from 0 to ${maximum}, got ${level}`);
	}
	return { pin: found.pin, level: number };
}

/** Follows the pins that the firmware opens: their values, and the levels of its inputs. */
export function openPins(deliver: Deliver, { events, own }: Environment) {
	const open = new Map<number, PinState>();
	const show = (state: PinState): void => {
		const before = open.get(state.pin);
		open.set(state.pin, state);
		events.emit("pin", state);
		const description = describePin(state);
		// A person would notice the change of an output.
		if (!isInput(state) && (before === undefined || describePin(before) !== description)) {
			events.emit("note", `${state.part ?? `pin ${state.pin}`} is ${description}`);
		}
	};
	const change = (pin: number, value: PinState["value"]): void => {
		const before = open.get(pin);
		if (before !== undefined && JSON.stringify(before.value) !== JSON.stringify(value)) {
			show({ ...before, value });
		}
	};
	const handlers = {
		open([pin, kind, part, value]: [number, PinKind, string | null | undefined, number | string]) {
			const isInverted = own[part ?? ""]?.options.activeLow;
			show({ pin, kind, value, ...(part && { part }), ...(isInverted && { isInverted }) });
		},
		write: ([pin, value]: [number, PinState["value"]]) => change(pin, value),
		close: ([pin]: [number]) => open.delete(pin),
	};
	return {
		...makeService("pin", handlers),
		/** The open pins, by their numbers. */
		get all(): readonly PinState[] {
			return [...open.values()].sort((one, other) => one.pin - other.pin);
		},
		/** Sets the level outside of a pin. */
		set(pin: number, level: number | string): void {
			deliver({ header: ["pin.set", pin, level] });
			change(pin, level);
		},
	};
}

/** Whether one of the LEDs is on. */
export function isLit({ colors, brightness }: PixelsState): boolean {
	return brightness > 0 && colors.some((color) => color !== 0);
}

/** A color in CSS: "#ff8000". */
export function hexOf(color: number): string {
	return `#${color.toString(16).padStart(6, "0")}`;
}

/** How much an output is on, in percent. */
export function percentOf({ kind, value, isInverted }: PinState): number {
	const percent = Number(value) * (kind === "pwm" ? 1 : 100);
	return isInverted ? 100 - percent : percent;
}

/** The value of a pin as a person reads it. */
export function describePin(state: PinState): string {
	const { kind, value } = state;
	if (typeof value === "object") {
		const colors = [...new Set(value.colors)];
		const [color = 0] = colors;
		const shown = colors.length > 1 ? `${colors.length} colors` : hexOf(color);
		return isLit(value) ? `on: ${value.brightness} % of ${shown}` : "off";
	}
	const texts: Readonly<Partial<Record<PinKind, string>>> = {
		output: percentOf(state) === 0 ? "off" : "on",
		input: value === 0 ? "low" : "high",
		pixels: "off",
		pwm: percentOf(state) === 0 ? "off" : `on: ${percentOf(state)} %`,
		servo: value === 0 ? "not moved yet" : `at ${value} µs`,
	};
	return texts[kind] ?? JSON.stringify(value);
}

/** Reads "pin 34" and "34" as a pin, "0x76" as an address on the bus, and another text as the name of a part. */
export function readPinName(text: string): number | string {
	const [, pin] = /^(?:pin )?(\d{1,2}|0x[0-9a-f]{1,2})$/.exec(text) ?? [];
	return pin === undefined ? text : Number(pin);
}

/** Returns whether a value is "on", "off", true or false. */
export function isSwitched(value: unknown): boolean {
	return ["on", "off", true, false].includes(value as string | boolean);
}

export function isOn(value: unknown): boolean {
	return value === "on" || value === true;
}

/** A sensor, or a chip on the I2C bus that the firmware has talked to. */
export interface ChipState {
	readonly address: ChipAddress;
	/** "SHT3x", or "registers" of a chip that the virtual device does not know. */
	readonly type: string;
	/** The part of the project that has it. */
	readonly part?: string;
	readonly values: Readonly<Record<string, number>>;
	readonly isPlugged: boolean;
}

const MAX_VALUES = 256;

/** Follows the chips and sensors that the firmware opens. */
export function openChips(deliver: Deliver, { events }: Environment) {
	const open = new Map<ChipAddress, ChipState>();
	const show = (chip: ChipState): void => {
		open.set(chip.address, chip);
		events.emit("surrounded");
	};
	const handlers = {
		open([address, part, type, values, isPlugged]: [ChipAddress, string | null, string, ChipState["values"], boolean]) {
			show({ address, type, values, isPlugged, ...(part && { part }) });
		},
	};
	return {
		...makeService("chip", handlers),
		get all(): readonly ChipState[] {
			return [...open.values()].sort((one, other) => (one.address > other.address ? 1 : -1));
		},
		/** Sets values of a chip, or unplugs it. */
		set({ address }: ChipState, values: ChipValues): void {
			const before = open.get(address);
			if (before !== undefined) {
				deliver({ header: ["chip.set", address, values] });
				show({ ...before, values: { ...before.values, ...values }, isPlugged: values !== null });
			}
		},
	};
}

/**
 * Finds the chip to set.
 *
 * @param which its address, or the name of its part
 * @throws Error if the device has no such chip or the chip no such value, RangeError if the value is out of range
 */
export function findChip(chips: readonly ChipState[], which: number | string, values: ChipValues): ChipState {
	const found = chips.find(({ address, part }) => address === which || part === which);
	if (found === undefined) {
		const names = chips.map(({ part, address }) => part ?? `0x${address.toString(16)}`);
		throw new Error(
			`${which}: ${names.length === 0 ? "the device has no chips on its bus" : `expected ${names.join(", ")}`}`,
		);
	}
	for (const [name, value] of Object.entries(values ?? {}).slice(0, MAX_VALUES)) {
		const { min, max, unit = "" } = rangeOf(found.type, name, `${which}.${name}`);
		if (!(value >= min && value <= max)) {
			throw new RangeError(
				`${which}.${name}: expected a number from ${min} to ${max}${unit === "" ? "" : ` ${unit}`}, got ${value}`,
			);
		}
	}
	return found;
}

function rangeOf(type: string, name: string, place: string): { min: number; max: number; unit?: string } {
	if (type === "registers") {
		if (!/^\d{1,3}$/.test(name) || Number(name) >= MAX_VALUES) {
			throw new Error(`${place}: expected numbers of registers`);
		}
		return { min: 0, max: 255 };
	}
	const readings = readingsOf(type);
	const reading = readings[name];
	if (reading === undefined) {
		throw new Error(`${place}: expected ${Object.keys(readings).join(", ")}`);
	}
	return reading;
}
