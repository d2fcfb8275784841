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

/** Opens a chip on a bus and sets it up. @throws Error if the chip does not answer */
export const openBusChip = (
	{ io, ...pins }: SmBusRecord,
	address: number,
	start: (chip: SmBusDevice) => void,
): SmBusDevice => {
	const chip = new io({ ...pins, address, hz: 100_000 });
	try {
		start(chip);
	} catch (error) {
		chip.close();
		throw error;
	}
	return chip;
};

/** Writes registers: "2206 2710" sets 0x22 to 0x06 and 0x27 to 0x10. */
export const writeRegisters = (pairs: string, write: (register: number, value: number) => void): void => {
	for (const pair of pairs.split(" ")) {
		const word = Number.parseInt(pair, 16);
		write(word >> 8, word & 0xff);
	}
};
