/** A device on ECMA-419's SMBus (§10.5.4). */
export interface SmBusDevice {
	readUint8(register: number): number;
	writeUint8(register: number, value: number): void;
	close(): void;
}

/** ECMA-419's record for a bus: its class, its pins and its port. */
export interface SmBusRecord<Device extends SmBusDevice = SmBusDevice> {
	readonly io: new (options: object) => Device;
}

/**
 * Opens a part on a bus. Its chip is closed if that fails.
 *
 * @param address of the chip, unless the record has one
 * @param open sets the chip up
 * @throws Error if the chip does not answer
 */
export const openOnBus = <Device extends SmBusDevice, Part>(
	{ io, ...record }: SmBusRecord<Device>,
	address: number,
	open: (chip: Device) => Part,
): Part => {
	const chip = new io({ hz: 100_000, address, ...record });
	try {
		return open(chip);
	} catch (error) {
		chip.close();
		throw error;
	}
};

/** Writes registers: "2206 2710" sets 0x22 to 0x06 and 0x27 to 0x10. */
export const writeRegisters = (chip: Pick<SmBusDevice, "writeUint8">, pairs: string): void => {
	for (const pair of pairs.split(" ")) {
		const word = Number.parseInt(pair, 16);
		chip.writeUint8(word >> 8, word & 0xff);
	}
};
