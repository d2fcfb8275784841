import Time from "time";
import Timer from "timer";
import { openOnBus, type SmBusDevice, type SmBusRecord } from "../bus-chip.js";

/** Time without data after which a chip counts as stopped, ms: three times the slowest measurement. */
const MAX_SILENCE = 15_000;

/** A bus of ECMA-419's class SMBus (§10.5.4), with the methods of I2C. */
export interface Bus extends SmBusDevice {
	read(count: number): ArrayBuffer;
	write(bytes: Uint8Array): void;
	readUint16(register: number, bigEndian: boolean): number;
	readBuffer(register: number, count: number): ArrayBuffer;
	writeUint16(register: number, value: number, bigEndian: boolean): void;
}

/** A chip on a bus. */
interface BusChip<State> {
	/** Default address. */
	readonly address: number;
	/** Sets the chip up. @returns the `state` of the other functions */
	start(bus: Bus): State;
	/** Reads a sample; undefined without a new measurement. */
	sample(bus: Bus, state: State): object | undefined;
	/** Applies the driver's options. */
	configure?(options: object, state: State): void;
}

/** A driver of ECMA-419 (§13). */
type Driver = new (options: {
	readonly sensor: SmBusRecord<Bus>;
}) => {
	configure(options: object): void;
	/** @throws Error if the chip does not answer, or has not measured for long */
	sample(): object | undefined;
	close(): void;
};

/** Makes the driver of a chip on a bus. Its constructor throws if the chip does not answer. */
export const busSensor = <State>({ address, start, sample, configure }: BusChip<State>): Driver =>
	class {
		private readonly bus: Bus;
		private readonly state: State;
		private measuredAt = Time.ticks;

		constructor({ sensor }: ConstructorParameters<Driver>[0]) {
			[this.bus, this.state] = openOnBus(sensor, address, (bus) => [bus, start(bus)] as const);
		}

		configure(options: object): void {
			configure?.(options, this.state);
		}

		sample(): object | undefined {
			const values = sample(this.bus, this.state);
			if (values !== undefined) {
				this.measuredAt = Time.ticks;
			} else if ((Time.ticks - this.measuredAt) >>> 0 > MAX_SILENCE) {
				throw new Error("the chip has stopped measuring");
			}
			return values;
		}

		close(): void {
			this.bus.close();
		}
	};

/** Writes a command, and waits for the chip. @param milliseconds duration of the command */
export const command = (bus: Bus, bytes: readonly number[], milliseconds: number): void => {
	bus.write(Uint8Array.from(bytes));
	Timer.delay(milliseconds);
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
 * Writes a command, and reads 16-bit words, each followed by its CRC-8 (polynomial 0x31, start 0xff), as Sensirion's chips send
 * them.
 *
 * @throws Error if a checksum is wrong
 */
export const readWords = (bus: Bus, bytes: readonly number[], milliseconds: number, count: number): number[] => {
	command(bus, bytes, milliseconds);
	const data = new DataView(bus.read(count * 3));
	return Array.from({ length: count }, (_, word) => {
		checkCrc(new Uint8Array(data.buffer, word * 3, 3));
		return data.getUint16(word * 3);
	});
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
