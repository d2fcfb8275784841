import type { Backlight, Battery } from "../hardware/hardware.js";
import type { SmBusDevice } from "./smbus.js";

/** X-Powers AXP2101, registers: what they hold is in its data sheet. */
const STATUS = 0x01;
const LDO_ENABLE = 0x90;
const DLDO1_VOLTAGE = 0x99;
const BATTERY_PERCENT = 0xa4;

/** In STATUS, bits 6 and 5: 1 while current flows into the battery. */
const CURRENT_DIRECTION = 0b0110_0000;
const CHARGING = 0b0010_0000;

/** In LDO_ENABLE. */
const DLDO1 = 0b1000_0000;

/** DLDO1 in steps of 0.1 V from 0.5 V: below 2.5 V a backlight is dark, at 3.3 V it is at its brightest. */
const DARKEST = 20;
const BRIGHTEST = 28;

/** The power chip of several M5Stack boards: measures the battery, and feeds the backlight from its supply DLDO1. */
export class Axp2101 implements Battery, Backlight {
	private readonly device: SmBusDevice;
	private _brightness = 0;

	/** @param device the chip, whose supplies are set already */
	constructor(device: SmBusDevice) {
		this.device = device;
	}

	/** Percent, computed by the chip; too high without a battery. */
	get level(): number {
		return Math.min(100, this.device.readUint8(BATTERY_PERCENT));
	}

	get charging(): boolean {
		return (this.device.readUint8(STATUS) & CURRENT_DIRECTION) === CHARGING;
	}

	get brightness(): number {
		return this._brightness;
	}

	set brightness(brightness: number) {
		const supplies = this.device.readUint8(LDO_ENABLE);
		if (brightness > 0) {
			const step = DARKEST + Math.round(((BRIGHTEST - DARKEST) * brightness) / 100);
			this.device.writeUint8(DLDO1_VOLTAGE, step);
		}
		this.device.writeUint8(LDO_ENABLE, brightness === 0 ? supplies & ~DLDO1 : supplies | DLDO1);
		this._brightness = brightness;
	}

	close(): void {
		this.device.close();
	}
}
