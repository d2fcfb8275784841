import type { SmBusDevice, SmBusRecord } from "../../drivers/smbus.js";

/** The power chip, once the SDK's set-up of this target has opened it. */
export interface PowerChipGlobal {
	powerChip?: SmBusDevice;
}

/**
 * Replaces the SDK's class of the power chip (`embedded:peripheral/Power/axp2101`) in the SDK's set-up of this target.
 * The set-up keeps its instance private, and a bus does not open an address twice, so the board takes the chip from the
 * global object. The class cannot keep it: it is preloaded, and thus read-only.
 */
export default class OpenedPowerChip {
	private readonly device: SmBusDevice;

	constructor({ sensor, address }: { readonly sensor: SmBusRecord; readonly address: number }) {
		const { io, ...pins } = sensor;
		this.device = new io({ ...pins, address, hz: 400_000 });
		(globalThis as PowerChipGlobal).powerChip = this.device;
	}

	/** The method that the set-up calls. */
	writeByte(register: number, value: number): void {
		this.device.writeUint8(register, value);
	}
}
