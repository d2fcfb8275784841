/** Readings of a sensor by their names, or bytes of registers by their numbers. Null: the chip is unplugged. */
export type ChipValues = Readonly<Record<string, number>> | null;

/** Address on the bus, or "pin 18" for a sensor on a pin. */
export type ChipAddress = number | string;

/** Shows a chip that the firmware talks to: Node for a virtual device, the panel of Moddable's simulator. */
export type ShowChip = (
	address: ChipAddress,
	part: string | undefined,
	type: string,
	values: Readonly<Record<string, number>>,
	isPlugged: boolean,
) => void;

const state = {
	show: undefined as ShowChip | undefined,
	values: new Map<ChipAddress, Record<string, number>>(),
	unplugged: new Set<ChipAddress>(),
};

/** Sets the function that shows the chips, and their values. */
export function connectBus(
	show: ShowChip,
	values: Iterable<readonly [address: ChipAddress, values: ChipValues]> = [],
): void {
	Object.assign(state, { show, values: new Map(), unplugged: new Set() });
	for (const each of values) {
		setChip(...each);
	}
}

/** Sets values of a chip, or unplugs it. */
export function setChip(address: ChipAddress, values: ChipValues): void {
	if (values === null) {
		state.unplugged.add(address);
	} else {
		state.unplugged.delete(address);
		Object.assign(valuesAt(address), values);
	}
}

/** Returns the values of the chip that answers. @throws Error if it is unplugged */
export function readChip(address: ChipAddress): Record<string, number> {
	if (state.unplugged.has(address)) {
		throw new Error(`no answer from ${typeof address === "number" ? `address 0x${address.toString(16)}` : address}`);
	}
	return valuesAt(address);
}

/**
 * Shows a chip.
 *
 * @param type its name, or "registers"
 * @param initial its values until others are set
 */
export function showChip(
	address: ChipAddress,
	part: string | undefined,
	type: string,
	initial: Readonly<Record<string, number>> = {},
): void {
	const values = valuesAt(address);
	Object.assign(values, { ...initial, ...values });
	state.show?.(address, part, type, values, !state.unplugged.has(address));
}

function valuesAt(address: ChipAddress): Record<string, number> {
	const values = state.values.get(address) ?? {};
	state.values.set(address, values);
	return values;
}
