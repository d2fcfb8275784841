import { readChip, showChip } from "./bus.js";

/**
 * Stands in for ECMA-419's `embedded:io/i2c` (§10.5). Each address has registers of 8 bits: a write sets the register's number and
 * the bytes after it, and a read continues there.
 */
export default class I2C {
	readonly #address: number;
	readonly #part: string | undefined;
	#register = 0;
	#isOpen = true;

	/**
	 * @param options `address`: 7 bits; `part`: the name of its part, in a project with parts
	 * @throws RangeError if the address is invalid
	 */
	constructor({ address, part }: { readonly address: number; readonly part?: string }) {
		if (!Number.isInteger(address) || address < 0 || address > 0x7f) {
			throw new RangeError("invalid address");
		}
		this.#address = address;
		this.#part = part;
		this.#show();
	}

	get format(): string {
		return "buffer";
	}

	/** @param count bytes, or a buffer to fill */
	read(count: number | ArrayBuffer | Uint8Array): ArrayBuffer | number {
		const registers = this.#registers();
		const length = typeof count === "number" ? count : count.byteLength;
		const bytes = Uint8Array.from({ length }, (_, offset) => registers[(this.#register + offset) & 0xff] ?? 0);
		this.#register = (this.#register + length) & 0xff;
		if (typeof count === "number") {
			return bytes.buffer;
		}
		(count instanceof ArrayBuffer ? new Uint8Array(count) : count).set(bytes);
		return length;
	}

	write(bytes: ArrayBuffer | Uint8Array): void {
		const registers = this.#registers();
		const [register, ...values] = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
		if (register === undefined) {
			return;
		}
		this.#register = register;
		for (const [offset, value] of values.entries()) {
			registers[(register + offset) & 0xff] = value;
		}
		if (values.length > 0) {
			this.#show();
		}
	}

	writeRead(bytes: ArrayBuffer | Uint8Array, count: number | ArrayBuffer | Uint8Array): ArrayBuffer | number {
		this.write(bytes);
		return this.read(count);
	}

	close(): void {
		this.#isOpen = false;
	}

	#show(): void {
		showChip(this.#address, this.#part, "registers");
	}

	/** @throws Error if this is closed or the chip is unplugged */
	#registers(): Record<string, number> {
		if (!this.#isOpen) {
			throw new Error("closed");
		}
		return readChip(this.#address);
	}
}

/** The host provider of ECMA-419: the buses of the target. */
Object.defineProperty(globalThis, "device", {
	value: { I2C: { default: { io: I2C, data: 21, clock: 22 } } },
});
