import type { Backlight, Battery } from "../hardware/hardware.js";
import { openDevice, type SmBusDevice, type SmBusRecord, writeRegisters } from "./smbus.js";

const ADDRESS = 0x34;

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

export interface Axp2101Options {
	readonly bus: SmBusRecord;
	/** What the board wants its supplies to be, before anything else is done with them. */
	readonly registers: readonly (readonly [register: number, value: number])[];
}

/** The power chip of several M5Stack boards: tells of the battery, and feeds the backlight from its supply DLDO1. */
export class Axp2101 implements Battery, Backlight {
	readonly #device: SmBusDevice;
	#brightness = 0;

	constructor({ bus, registers }: Axp2101Options) {
		this.#device = openDevice(bus, ADDRESS);
		try {
			writeRegisters(this.#device, registers);
		} catch (error) {
			this.#device.close();
			throw error;
		}
	}

	/** Percent. The chip reckons it itself; without a battery it tells more than there is. */
	get level(): number {
		return Math.min(100, this.#device.readUint8(BATTERY_PERCENT));
	}

	get charging(): boolean {
		return (this.#device.readUint8(STATUS) & CURRENT_DIRECTION) === CHARGING;
	}

	get brightness(): number {
		return this.#brightness;
	}

	set brightness(brightness: number) {
		this.#brightness = brightness;
		const supplies = this.#device.readUint8(LDO_ENABLE);
		if (brightness === 0) {
			this.#device.writeUint8(LDO_ENABLE, supplies & ~DLDO1);
			return;
		}
		const step = DARKEST + Math.round(((BRIGHTEST - DARKEST) * brightness) / 100);
		this.#device.writeUint8(DLDO1_VOLTAGE, step);
		this.#device.writeUint8(LDO_ENABLE, supplies | DLDO1);
	}

	close(): void {
		this.#device.close();
	}
}
