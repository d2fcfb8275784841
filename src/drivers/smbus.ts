/** A device on ECMA-419's SMBus, as far as it is used. */
export interface SmBusDevice {
	readUint8(register: number): number;
	writeUint8(register: number, value: number): void;
	/** @param bigEndian whether the high byte goes first; by default the low one does */
	writeUint16(register: number, value: number, bigEndian?: boolean): void;
	close(): void;
}

/** ECMA-419's record for a bus: its class, its pins and its port. */
export interface SmBusRecord {
	readonly io: new (options: object) => SmBusDevice;
}

/** Opens a device. @param address 7 bits */
export function openDevice(bus: SmBusRecord, address: number): SmBusDevice {
	const { io, ...pins } = bus;
	return new io({ ...pins, address, hz: 400_000 });
}

/** Writes registers, in order. */
export function writeRegisters(
	device: SmBusDevice,
	registers: readonly (readonly [register: number, value: number])[],
): void {
	for (const [register, value] of registers) {
		device.writeUint8(register, value);
	}
}
