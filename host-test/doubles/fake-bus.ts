import type { SmBusDevice } from "../../src/hardware/drivers/axp2101.js";

/** Writes on a fake SMBus, in order: the device's address, the register, the value. */
type BusWrite = readonly [address: number, register: number, value: number];

/** An SMBus whose devices are plain memory. It records the writes. */
export function fakeBus() {
	const writes: BusWrite[] = [];
	const memory = new Map<string, number>();
	class FakeDevice implements SmBusDevice {
		readonly #address: number;

		constructor(options: object) {
			this.#address = (options as { address: number }).address;
		}

		readUint8(register: number): number {
			return memory.get(`${this.#address}/${register}`) ?? 0;
		}

		writeUint8(register: number, value: number): void {
			memory.set(`${this.#address}/${register}`, value);
			writes.push([this.#address, register, value]);
		}

		close(): void {}
	}
	const io: new (options: object) => SmBusDevice = FakeDevice;
	return { bus: { io }, writes, memory };
}
