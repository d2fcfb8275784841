import Time from "time";

/** Time without data after which a chip has stopped, ms: three times the slowest measurement. */
const MAX_SILENCE = 15_000;

/** A bus of ECMA-419's class SMBus (§10.5.4). */
export interface Bus {
	read(count: number): ArrayBuffer;
	write(bytes: Uint8Array): void;
	readUint8(register: number): number;
	readUint16(register: number, bigEndian: boolean): number;
	readBuffer(register: number, count: number): ArrayBuffer;
	writeUint8(register: number, value: number): void;
	writeUint16(register: number, value: number, bigEndian: boolean): void;
	close(): void;
}

/** Options of a driver (ECMA-419 §13). */
export interface DriverSettings {
	readonly sensor: { readonly io: new (options: object) => Bus };
}

/** A chip on a bus (ECMA-419 §13), which is closed if it cannot be set up. */
export abstract class BusSensor {
	protected readonly bus: Bus;

	/**
	 * @param address default address
	 * @param start sets the chip up
	 * @throws Error if the chip does not answer
	 */
	constructor({ sensor }: DriverSettings, address: number, start: (bus: Bus) => void) {
		this.bus = new sensor.io({ hz: 100_000, address, ...sensor });
		try {
			start(this.bus);
		} catch (error) {
			this.bus.close();
			throw error;
		}
	}

	close(): void {
		this.bus.close();
	}
}

/** Checks that a chip still measures. @param since time of its last data, in ticks @throws Error if that is long ago */
export const checkSilence = (since: number): void => {
	if ((Time.ticks - since) >>> 0 > MAX_SILENCE) {
		throw new Error("the chip has stopped measuring");
	}
};

/** Checks the identity of a chip. @throws Error that names the expected one */
export const checkId = (id: number, expected: number): void => {
	if (id !== expected) {
		throw new Error(`the chip has the identity 0x${id.toString(16)}, expected 0x${expected.toString(16)}`);
	}
};

/** Reads a signed 16-bit register, big endian. */
export const readInt16 = (bus: Bus, register: number): number => (bus.readUint16(register, true) << 16) >> 16;

/**
 * Reads 16-bit words, each followed by its CRC-8 (polynomial 0x31, start 0xff), as Sensirion's chips send them.
 *
 * @throws Error if a checksum is wrong
 */
export const readWords = (bus: Bus, count: number): number[] => {
	const bytes = new Uint8Array(bus.read(count * 3));
	const words: number[] = [];
	for (let at = 0; at < bytes.length; at += 3) {
		checkCrc(bytes.subarray(at, at + 3));
		words.push(((bytes[at] as number) << 8) | (bytes[at + 1] as number));
	}
	return words;
};

/** Checks the last byte, a CRC-8 of those before it. @throws Error if it is wrong */
export const checkCrc = (bytes: Uint8Array): void => {
	let crc = 0xff;
	for (const byte of bytes) {
		crc ^= byte;
		for (let bit = 0; bit < 8; bit += 1) {
			crc = ((crc << 1) ^ (crc & 0x80 ? 0x31 : 0)) & 0xff;
		}
	}
	if (crc !== 0) {
		throw new Error("wrong checksum");
	}
};
