import type { ChipAddress, ChipValues } from "../../platform/io/bus.js";
import { readingsOf } from "../../platform/io/sensors.js";
import type { Environment } from "../environment.js";
import { type Deliver, makeService, type Service } from "./service.js";

/** A sensor, or a chip on the I2C bus that the firmware has talked to. */
export interface ChipState {
	readonly address: ChipAddress;
	/** "SHT3x", or "registers" of a chip that the virtual device does not know. */
	readonly type: string;
	/** The part that has it, of a device of one's own. */
	readonly part?: string;
	readonly values: Readonly<Record<string, number>>;
	readonly isPlugged: boolean;
}

const MAX_VALUES = 256;

/** The chips and sensors of a device. */
export interface Chips extends Service {
	readonly all: readonly ChipState[];
	/** Sets values of a chip, or unplugs it. */
	set(chip: ChipState, values: ChipValues): void;
}

/** Follows the chips and sensors that the firmware opens. */
export function openChips(deliver: Deliver, { events }: Environment): Chips {
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
		get all() {
			return [...open.values()].sort((one, other) => (one.address > other.address ? 1 : -1));
		},
		set({ address }, values) {
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
