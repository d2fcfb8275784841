import { answeringChip, showChip } from "./bus.js";
import type { SimulatedChip } from "./chips/simulated-chip.js";

interface I2cOptions {
	/** 7 bits. */
	readonly address: number;
	/** The name of its part, in a project with parts. */
	readonly part?: string;
}

/** Stands in for ECMA-419's `embedded:io/i2c` (§10.5), with simulated chips. */
export default class I2C {
	readonly #address: number;
	readonly #part: string | undefined;
	#isOpen = true;

	constructor({ address, part }: I2cOptions) {
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
		const chip = this.#chip();
		if (typeof count === "number") {
			return chip.read(count).buffer as ArrayBuffer;
		}
		const target = count instanceof ArrayBuffer ? new Uint8Array(count) : count;
		const bytes = chip.read(target.byteLength);
		target.set(bytes.subarray(0, target.byteLength));
		return bytes.byteLength;
	}

	write(bytes: ArrayBuffer | Uint8Array): void {
		if (this.#chip().write(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes)) {
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
		showChip(this.#address, this.#part);
	}

	#chip(): SimulatedChip {
		if (!this.#isOpen) {
			throw new Error("closed");
		}
		return answeringChip(this.#address);
	}
}

/** The host provider of ECMA-419: the buses of the target. */
Object.defineProperty(globalThis, "device", {
	value: { I2C: { default: { io: I2C, data: 21, clock: 22 } } },
});
