import type { SmBusDevice, SmBusRecord } from "../../drivers/smbus.js";

/**
 * Stands for the SDK's class of the power chip (`embedded:peripheral/Power/axp2101`) when the SDK sets this target up. The
 * set-up keeps its instance to itself, and a bus does not open an address twice, so the board takes the chip from here.
 */
export default class OpenedPowerChip {
	/** The chip, once it is set up. */
	static device: SmBusDevice | undefined;
	readonly #device: SmBusDevice;

	constructor({ sensor, address }: { readonly sensor: SmBusRecord; readonly address: number }) {
		const { io, ...pins } = sensor;
		this.#device = new io({ ...pins, address, hz: 400_000 });
		OpenedPowerChip.device = this.#device;
	}

	/** What the set-up calls. */
	writeByte(register: number, value: number): void {
		this.#device.writeUint8(register, value);
	}
}
