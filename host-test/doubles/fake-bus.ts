import type { SmBusDevice } from "../../src/drivers/axp2101.js";

/** Writes on a fake SMBus, in order: the device's address, the register, the value. */
type BusWrite = readonly [address: number, register: number, value: number];

/** An SMBus whose devices are plain memory, and that remembers what was written. Registers of 16 bits are kept apart. */
export function fakeBus() {
	const writes: BusWrite[] = [];
	const memory = new Map<string, number>();
	const open = new Set<number>();
	/** Writing to this register fails, as if no device answered. */
	const fault: { register: number | undefined } = { register: undefined };
	class FakeDevice implements SmBusDevice {
		readonly address: number;

		constructor(options: object) {
			this.address = (options as { address: number }).address;
			if (open.has(this.address)) {
				throw new RangeError("duplicate address");
			}
			open.add(this.address);
		}

		readUint8(register: number): number {
			return memory.get(`${this.address}/${register}`) ?? 0;
		}

		writeUint8(register: number, value: number): void {
			if (register === fault.register) {
				throw new Error("write failed");
			}
			memory.set(`${this.address}/${register}`, value);
			writes.push([this.address, register, value]);
		}

		writeUint16(register: number, value: number, bigEndian = false): void {
			this.writeUint8(register, bigEndian ? value : ((value & 255) << 8) | (value >> 8));
		}

		close(): void {
			open.delete(this.address);
		}
	}
	return { bus: { io: FakeDevice }, writes, memory, open, fault };
}
