import type { SmBusDevice, SmBusRecord } from "./bus-chip.js";
import type { SdkPower } from "./open-power.js";

/** The power chip, once the SDK's set-up of a target has opened it. */
export interface PowerChipGlobal {
	powerChip?: Axp2101;
}

/** Registers of X-Powers' AXP2101, from its data sheet. */
const LDO_ENABLE = 0x90;
const DLDO1_VOLTAGE = 0x99;

/** Bit in LDO_ENABLE. */
const DLDO1 = 0b1000_0000;

/** DLDO1 in steps of 0.1 V from 0.5 V: below 2.5 V a backlight is dark, at 3.3 V it is at its brightest. */
const DARKEST = 20;
const BRIGHTEST = 28;

/**
 * Replaces the SDK's class of the power chip (`embedded:peripheral/Power/axp2101`) in the SDK's set-up of a target whose backlight
 * the chip's supply DLDO1 feeds. The set-up keeps its instance private, and a bus does not open an address twice, so the board
 * takes the chip from the global object. The class cannot keep it: it is preloaded, and thus read-only.
 */
export default class Axp2101 implements SdkPower {
	private readonly device: SmBusDevice;

	constructor({ sensor, address }: { readonly sensor: SmBusRecord; readonly address: number }) {
		const { io, ...pins } = sensor;
		this.device = new io({ ...pins, address, hz: 400_000 });
		(globalThis as PowerChipGlobal).powerChip = this;
	}

	readByte(register: number): number {
		return this.device.readUint8(register);
	}

	/** The method that the set-up calls. */
	writeByte(register: number, value: number): void {
		this.device.writeUint8(register, value);
	}

	/** Percent. */
	set brightness(percent: number) {
		const supplies = this.readByte(LDO_ENABLE);
		if (percent > 0) {
			this.writeByte(DLDO1_VOLTAGE, DARKEST + Math.round(((BRIGHTEST - DARKEST) * percent) / 100));
		}
		this.writeByte(LDO_ENABLE, percent === 0 ? supplies & ~DLDO1 : supplies | DLDO1);
	}
}
