import type { SmBusDevice } from "../../src/hardware/drivers/bus-chip.js";

/** Writes on a fake SMBus, in order: the device's address, the register, the value. */
type BusWrite = readonly [address: number, register: number, value: number];

/** An SMBus whose devices are plain memory. It records the writes, and does not open an address twice. */
export function fakeBus() {
	const writes: BusWrite[] = [];
	const open = new Set<number>();
	/** Addresses that do not answer. */
	const absent = new Set<number>();
	const memory = new Map<string, number>();
	class FakeDevice implements SmBusDevice {
		readonly #address: number;

		constructor(options: object) {
			this.#address = (options as { address: number }).address;
			if (open.has(this.#address)) {
				throw new Error("in use");
			}
			open.add(this.#address);
		}

		readUint8(register: number): number {
			return memory.get(`${this.#address}/${register}`) ?? 0;
		}

		writeUint8(register: number, value: number): void {
			if (absent.has(this.#address)) {
				throw new Error("write failed");
			}
			memory.set(`${this.#address}/${register}`, value);
			writes.push([this.#address, register, value]);
		}

		close(): void {
			open.delete(this.#address);
		}
	}
	const io: new (options: object) => SmBusDevice = FakeDevice;
	return { bus: { io }, writes, memory, open, absent };
}
