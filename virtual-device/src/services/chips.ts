import type { ChipValues } from "../../platform/io/bus.js";
import type { Deliver, Service } from "./service.js";

/** A chip on the I2C bus that the firmware has talked to. */
export interface ChipState {
	readonly address: number;
	/** "SHT3x", "BMP280", or "registers". */
	readonly type: string;
	/** The part that has it, of a device of one's own. */
	readonly part?: string;
	readonly values: Readonly<Record<string, number>>;
	/** Whether it answers. */
	readonly isPlugged: boolean;
}

/** Values of one chip. */
const MAX_VALUES = 256;

/** The simulated chips on the bus of a device. */
export class Chips implements Service {
	readonly prefix = "chip";
	readonly #deliver: Deliver;
	readonly #onChange: () => void;
	readonly #open = new Map<number, ChipState>();

	constructor(deliver: Deliver, onChange: () => void) {
		this.#deliver = deliver;
		this.#onChange = onChange;
	}

	/** By address. */
	get all(): readonly ChipState[] {
		return [...this.#open.values()].sort((one, other) => one.address - other.address);
	}

	/** Changes what a chip measures, or unplugs it. */
	set({ address }: ChipState, values: ChipValues): void {
		const before = this.#open.get(address);
		if (before !== undefined) {
			this.#deliver({ header: ["chip.set", address, values] });
			this.#open.set(address, { ...before, values: { ...before.values, ...values }, isPlugged: values !== null });
			this.#onChange();
		}
	}

	take(_kind: string, args: readonly unknown[]): void {
		const [address, part, type, values, isPlugged] = args as [
			number,
			string | null,
			string,
			Record<string, number>,
			boolean,
		];
		this.#open.set(address, { address, type, values, isPlugged, ...(part && { part }) });
		this.#onChange();
	}

	close(): void {
		this.#open.clear();
	}
}

/**
 * The chip that is to be set.
 *
 * @param which its address, or the name of the part that has it
 * @throws Error if there is no such chip, or it does not measure that
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
		const isKnown =
			found.type === "registers" ? /^\d{1,3}$/.test(name) && Number(name) < MAX_VALUES : name in found.values;
		if (!isKnown) {
			const known = found.type === "registers" ? "numbers of registers" : Object.keys(found.values).join(", ");
			throw new Error(`${which}.${name}: expected ${known}`);
		}
		if (!Number.isFinite(value)) {
			throw new Error(`${which}.${name}: expected a number`);
		}
	}
	return found;
}
