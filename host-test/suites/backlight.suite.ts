import { HostBacklight } from "../../src/drivers/backlight/host-backlight.js";
import { PowerChip, type SdkPower } from "../../src/drivers/power-chip.js";
import { equal, suite } from "../harness.js";

/** An AXP2101 as the SDK's class has it: registers, and no voltage. */
function axp2101(registers: Readonly<Record<number, number>> = {}): SdkPower {
	return { brightness: 0, readByte: (register) => registers[register] ?? 0 };
}

/** An AXP192 as the SDK's class has it. */
function axp192(batteryVoltage: number, batteryCurrent = 0): SdkPower {
	return { brightness: 0, batteryVoltage, batteryCurrent, readByte: () => 0 };
}

export default suite("power chips and backlights of the SDK", {
	"estimates the charge from the voltage that an AXP192 measures"() {
		const levels = [3.0, 3.3, 3.7, 4.1, 4.2].map((volts) => new PowerChip(axp192(volts)).level);
		equal(levels, [0, 0, 50, 100, 100]);
	},
	"is charging while current flows into the battery"() {
		const charging = [-120, 0, 95].map((current) => new PowerChip(axp192(3.7, current)).charging);
		equal(charging, [false, false, true]);
	},
	"reads charge and direction from the registers of an AXP2101"() {
		const full = new PowerChip(axp2101({ 164: 255, 1: 0b0011_0101 }));
		equal([full.level, full.charging], [100, true]);
		const half = new PowerChip(axp2101({ 164: 50, 1: 0b0101_0101 }));
		equal([half.level, half.charging], [50, false]);
	},
	"sets the brightness, and keeps it where the SDK's class can only be told"() {
		const written: number[] = [];
		const chip = Object.defineProperty(axp192(4), "brightness", { set: (percent: number) => written.push(percent) });
		const power = new PowerChip(chip);
		power.brightness = 40;
		equal([written, power.brightness], [[40], 40]);
	},
	"hands brightness to the backlight that the target's setup defines"() {
		const written: number[] = [];
		const backlight = new HostBacklight({ write: (percent) => written.push(percent) });
		backlight.brightness = 0;
		backlight.brightness = 75;
		equal([written, backlight.brightness], [[0, 75], 75]);
	},
});
