import { boot, receive, send } from "./bridge.js";
import { SimulatedBme68x } from "./chips/bme68x.js";
import { SimulatedBmp280 } from "./chips/bmp280.js";
import { SimulatedDs3231 } from "./chips/ds3231.js";
import { SimulatedMcp23017 } from "./chips/mcp23017.js";
import { SimulatedSht3x } from "./chips/sht3x.js";
import { RegisterMap, type SimulatedChip } from "./chips/simulated-chip.js";

interface I2cOptions {
	/** 7 bits. */
	readonly address: number;
	/** The name of the part that has it, if it is one of a device of one's own. */
	readonly part?: string;
}

/** The addresses of the chips that are simulated; at every other one is a map of registers. */
const CHIPS: Readonly<Record<number, new () => SimulatedChip>> = {
	...Object.fromEntries([32, 33, 34, 35, 36, 37, 38, 39].map((address) => [address, SimulatedMcp23017])),
	68: SimulatedSht3x,
	69: SimulatedSht3x,
	104: SimulatedDs3231,
	118: SimulatedBmp280,
	119: SimulatedBme68x,
};

/** The chips that were talked to, by address, and those that are unplugged. */
const chips = new Map<number, SimulatedChip>();
const unplugged = new Set<number>();

function set(address: number, values: Readonly<Record<string, number>> | null): void {
	if (values === null) {
		unplugged.add(address);
	} else {
		unplugged.delete(address);
		Object.assign(chipAt(address).values, values);
	}
}

function chipAt(address: number): SimulatedChip {
	const found = chips.get(address) ?? new (CHIPS[address] ?? RegisterMap)();
	chips.set(address, found);
	return found;
}

for (const [address, values] of boot.chips ?? []) {
	set(address, values);
}
receive("chip.set", ([address, values]) => set(address as number, values as Record<string, number> | null));

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
		const { type, values } = chipAt(this.#address);
		send(["chip.open", this.#address, this.#part, type, values, !unplugged.has(this.#address)]);
	}

	#chip(): SimulatedChip {
		if (!this.#isOpen) {
			throw new Error("closed");
		}
		if (unplugged.has(this.#address)) {
			throw new Error(`no answer from address 0x${this.#address.toString(16)}`);
		}
		return chipAt(this.#address);
	}
}

/** What ECMA-419 calls the host provider: the buses of the target. */
Object.defineProperty(globalThis, "device", {
	value: { I2C: { default: { io: I2C, data: 21, clock: 22 } } },
});
