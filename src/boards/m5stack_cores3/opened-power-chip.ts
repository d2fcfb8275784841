import type { SmBusDevice, SmBusRecord } from "../../drivers/smbus.js";

/**
 * Replaces the SDK's class of the power chip (`embedded:peripheral/Power/axp2101`) in the SDK's set-up of this target.
 * The set-up keeps its instance private, and a bus does not open an address twice, so the board takes the chip from
 * here.
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

	/** The method that the set-up calls. */
	writeByte(register: number, value: number): void {
		this.#device.writeUint8(register, value);
	}
}
