import type { OpenMember } from "../board-data.js";
import type { Backlight, Battery } from "../hardware.js";
import type { PowerChipGlobal } from "./axp2101.js";
import { writeRegisters } from "./bus-chip.js";
import { boardBus, chipClass, openOptional } from "./open-optional.js";

/** A class for a target's power chip, an AXP192 or AXP2101, of the SDK or `axp2101.ts`. */
export interface SdkPower {
	/** Percent. Write-only in some classes. */
	brightness: number;
	/** Volts; undefined in the class for the AXP2101. */
	readonly batteryVoltage?: number;
	/** Milliamperes into the battery; undefined in the class for the AXP2101. */
	readonly batteryCurrent?: number;
	/** The supply of an amplifier, on some boards. */
	readonly speaker?: { enable: boolean };
	readByte(register: number): number;
	writeByte(register: number, value: number): void;
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

/** Makes the battery and backlight of a board with a power chip, whose supplies are set already. */
export const powerBattery = (chip: SdkPower): Battery & Backlight => {
	let current = 100;
	return {
		/** Percent. With an AXP192, which measures only the voltage, a rough estimate. */
		get level() {
			const voltage = chip.batteryVoltage;
			if (voltage === undefined) {
				return Math.min(100, chip.readByte(BATTERY_PERCENT));
			}
			return Math.max(0, Math.min(100, Math.round((100 * (voltage - EMPTY)) / (FULL - EMPTY))));
		},
		get charging() {
			const milliamperes = chip.batteryCurrent;
			return milliamperes === undefined ? (chip.readByte(STATUS) & CURRENT_DIRECTION) === CHARGING : milliamperes > 0;
		},
		get brightness() {
			return current;
		},
		set brightness(brightness) {
			chip.brightness = brightness;
			current = brightness;
		},
	};
};

/** Opens the power chip of a board, which has its battery and may feed its backlight. */
export default ((opening) => {
	const { power } = opening.data;
	const { driver, registers, backlight } = typeof power === "object" ? power : { backlight: true };
	const { powerChip } = globalThis as PowerChipGlobal;
	const bus = boardBus();
	const Power = chipClass<new (options: object) => SdkPower>(driver, "peripheral", "Power");
	// The SDK's classes name the bus in two ways.
	const chip: SdkPower = powerChip ?? new Power({ sensor: bus, peripheral: bus });
	if (registers !== undefined) {
		writeRegisters({ writeUint8: (register, value) => chip.writeByte(register, value) }, registers);
	}
	const { speaker } = chip;
	if (speaker !== undefined) {
		openOptional(opening.log, "amplifier", () => {
			speaker.enable = true;
		});
	}
	const battery = powerBattery(chip);
	Object.assign(opening.board, { battery });
	if (backlight) {
		opening.backlight = battery;
	}
}) satisfies OpenMember;
