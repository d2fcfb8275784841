import { SimulatedBme68x } from "./chips/bme68x.js";
import { SimulatedBmp280 } from "./chips/bmp280.js";
import { SimulatedDs3231 } from "./chips/ds3231.js";
import { SimulatedMcp23017 } from "./chips/mcp23017.js";
import { SimulatedSht3x } from "./chips/sht3x.js";
import { RegisterMap, type SimulatedChip } from "./chips/simulated-chip.js";

/** Measurements of a chip by quantity; of a map of registers, their bytes by number. Null: it is unplugged. */
export type ChipValues = Readonly<Record<string, number>> | null;

/** Shows a chip that the firmware talks to: Node beside a virtual device, the panel of Moddable's simulator. */
export type ShowChip = (
	address: number,
	part: string | undefined,
	type: string,
	values: Readonly<Record<string, number>>,
	isPlugged: boolean,
) => void;

/** The addresses of the chips that are simulated; at every other one is a map of registers. */
const CHIPS: Readonly<Record<number, new () => SimulatedChip>> = {
	...Object.fromEntries([32, 33, 34, 35, 36, 37, 38, 39].map((address) => [address, SimulatedMcp23017])),
	68: SimulatedSht3x,
	69: SimulatedSht3x,
	104: SimulatedDs3231,
	118: SimulatedBmp280,
	119: SimulatedBme68x,
};

const state = {
	show: undefined as ShowChip | undefined,
	/** The chips that were talked to, by address, and those that are unplugged. */
	chips: new Map<number, SimulatedChip>(),
	unplugged: new Set<number>(),
};

/** From now on this shows the chips, which have these values. */
export function connectBus(
	show: ShowChip,
	values: Iterable<readonly [address: number, values: ChipValues]> = [],
): void {
	Object.assign(state, { show, chips: new Map(), unplugged: new Set() });
	for (const each of values) {
		setChip(...each);
	}
}

/** Sets the measurements of a chip. */
export function setChip(address: number, values: ChipValues): void {
	if (values === null) {
		state.unplugged.add(address);
	} else {
		state.unplugged.delete(address);
		Object.assign(chipAt(address).values, values);
	}
}

/** The chip that answers. @throws Error if none does */
export function answeringChip(address: number): SimulatedChip {
	if (state.unplugged.has(address)) {
		throw new Error(`no answer from address 0x${address.toString(16)}`);
	}
	return chipAt(address);
}

export function showChip(address: number, part: string | undefined): void {
	const { type, values } = chipAt(address);
	state.show?.(address, part, type, values, !state.unplugged.has(address));
}

function chipAt(address: number): SimulatedChip {
	const found = state.chips.get(address) ?? new (CHIPS[address] ?? RegisterMap)();
	state.chips.set(address, found);
	return found;
}
