import I2C from "./i2c.js";

/** Stands in for ECMA-419's `embedded:io/smbus` (§10.5.4): I2C with numbers of registers. */
export default class SMBus extends I2C {
	readUint8(register: number): number {
		return this.#read(register, 1)[0] ?? 0;
	}

	readUint16(register: number, bigEndian = false): number {
		const [first = 0, second = 0] = this.#read(register, 2);
		return bigEndian ? (first << 8) | second : (second << 8) | first;
	}

	/** @param target bytes, or a buffer to fill */
	readBuffer(register: number, target: number | ArrayBuffer | Uint8Array): ArrayBuffer | number {
		return this.writeRead(Uint8Array.of(register), target);
	}

	writeUint8(register: number, value: number): void {
		this.write(Uint8Array.of(register, value));
	}

	writeUint16(register: number, value: number, bigEndian = false): void {
		const bytes = [value >> 8, value & 0xff];
		this.write(Uint8Array.of(register, ...(bigEndian ? bytes : bytes.reverse())));
	}

	writeBuffer(register: number, bytes: ArrayBuffer | Uint8Array): void {
		this.write(Uint8Array.of(register, ...(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes)));
	}

	sendByte(command: number): void {
		this.write(Uint8Array.of(command));
	}

	receiveByte(): number {
		return new Uint8Array(this.read(1) as ArrayBuffer)[0] ?? 0;
	}

	readQuick(): void {
		this.read(0);
	}

	writeQuick(): void {
		this.write(new Uint8Array(0));
	}

	#read(register: number, count: number): Uint8Array {
		return new Uint8Array(this.writeRead(Uint8Array.of(register), count) as ArrayBuffer);
	}
}
