/** A device on ECMA-419's SMBus, as far as it is used. */
export interface SmBusDevice {
	readUint8(register: number): number;
	writeUint8(register: number, value: number): void;
	close(): void;
}

/** ECMA-419's record for a bus: its class, its pins and its port. */
export interface SmBusRecord {
	readonly io: new (options: object) => SmBusDevice;
}
