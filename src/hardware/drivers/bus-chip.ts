/** A device on ECMA-419's SMBus. */
export interface SmBusDevice {
	readUint8(register: number): number;
	writeUint8(register: number, value: number): void;
	close(): void;
}

/** ECMA-419's record for a bus: its class, its pins and its port. */
export interface SmBusRecord {
	readonly io: new (options: object) => SmBusDevice;
}

/**
 * Opens a part on a bus. Its chip is closed if that fails.
 *
 * @param open sets the chip up
 * @throws Error if the chip does not answer
 */
export const openOnBus = <Part>(
	{ io, ...pins }: SmBusRecord,
	address: number,
	open: (chip: SmBusDevice) => Part,
): Part => {
	const chip = new io({ ...pins, address, hz: 100_000 });
	try {
		return open(chip);
	} catch (error) {
		chip.close();
		throw error;
	}
};

/** Writes registers: "2206 2710" sets 0x22 to 0x06 and 0x27 to 0x10. */
export const writeRegisters = (pairs: string, write: (register: number, value: number) => void): void => {
	for (const pair of pairs.split(" ")) {
		const word = Number.parseInt(pair, 16);
		write(word >> 8, word & 0xff);
	}
};
