import type { Backlight, Battery } from "../hardware.js";

/** A class for a target's power chip, an AXP192 or AXP2101, of the SDK or `axp2101.ts`. */
export interface SdkPower {
	/** Percent. Write-only in some classes. */
	brightness: number;
	/** Volts; undefined in the class for the AXP2101. */
	readonly batteryVoltage?: number;
	/** Milliamperes into the battery; undefined in the class for the AXP2101. */
	readonly batteryCurrent?: number;
	readByte(register: number): number;
}

/** Volts of an empty and of a full lithium cell. */
const EMPTY = 3.3;
const FULL = 4.1;

/** AXP2101, registers: what they hold is in its data sheet. */
const STATUS = 0x01;
const BATTERY_PERCENT = 0xa4;

/** In STATUS, bits 6 and 5: 1 while current flows into the battery. */
const CURRENT_DIRECTION = 0b0110_0000;
const CHARGING = 0b0010_0000;

/** Battery and backlight of a board with a power chip. */
export class PowerChip implements Battery, Backlight {
	private readonly chip: SdkPower;
	private _brightness = 100;

	/** @param chip whose supplies are set already */
	constructor(chip: SdkPower) {
		this.chip = chip;
	}

	/** Percent. With an AXP192, which measures only the voltage, a rough estimate. */
	get level(): number {
		const voltage = this.chip.batteryVoltage;
		if (voltage === undefined) {
			return Math.min(100, this.chip.readByte(BATTERY_PERCENT));
		}
		return Math.max(0, Math.min(100, Math.round((100 * (voltage - EMPTY)) / (FULL - EMPTY))));
	}

	get charging(): boolean {
		const current = this.chip.batteryCurrent;
		return current === undefined ? (this.chip.readByte(STATUS) & CURRENT_DIRECTION) === CHARGING : current > 0;
	}

	get brightness(): number {
		return this._brightness;
	}

	set brightness(brightness: number) {
		this.chip.brightness = brightness;
		this._brightness = brightness;
	}
}
