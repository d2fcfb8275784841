import { aw88298 } from "../../src/hardware/drivers/aw88298.js";
import Axp2101 from "../../src/hardware/drivers/axp2101.js";
import { hostBacklight } from "../../src/hardware/drivers/backlight/host-backlight.js";
import { chipThermometer, esp32System } from "../../src/hardware/drivers/chip/esp32-system.js";
import { PowerChip, type SdkPower } from "../../src/hardware/drivers/power-chip.js";
import { fakeBus } from "../doubles/fake-bus.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, given, suite } from "../harness.js";

const POWER = 0x34;
const LDO_ENABLE = 0x90;
const DLDO1_VOLTAGE = 0x99;

const CHIP = {
	model: 9,
	cores: 2,
	revision: 2,
	features: 18,
	flashSize: 16_777_216,
	psramSize: 8_388_608,
	minimumFreeHeap: 100_000,
	resetReason: 6,
	temperature: 41.5,
};

function system(data = CHIP) {
	const timer = new FakeTimer();
	const restarts: number[] = [];
	const chip = { ...data, restart: () => void restarts.push(timer.now), factoryReset: () => {} };
	return { timer, restarts, system: esp32System(chip, "aa:bb", "m5stack_cores3", "ota_1", timer) };
}

function axp2101(registers: Readonly<Record<number, number>> = {}): SdkPower {
	return { brightness: 0, readByte: (register) => registers[register] ?? 0 };
}

function axp192(batteryVoltage: number, batteryCurrent = 0): SdkPower {
	return { brightness: 0, batteryVoltage, batteryCurrent, readByte: () => 0 };
}

export default suite("drivers", {
	"AXP2101: feeds the backlight from 2.5 to 3.3 V, and not at all at 0": given(fakeBus, ({ bus, memory }) => {
		memory.set(`${POWER}/${LDO_ENABLE}`, 0x3f);
		const power = new Axp2101({ sensor: bus, address: POWER });
		const states = [100, 50, 1, 0].map((brightness) => {
			power.brightness = brightness;
			return [memory.get(`${POWER}/${DLDO1_VOLTAGE}`), memory.get(`${POWER}/${LDO_ENABLE}`)];
		});
		equal(states, [
			[28, 0xbf],
			[24, 0xbf],
			[20, 0xbf],
			[20, 0x3f],
		]);
	}),
	"AW88298: is silent at 0, loudest at 100, and softer in even steps between"() {
		const amplifier = { volume: -1 };
		const speaker = aw88298(amplifier);
		const volumes = [0, 1, 50, 100].map((volume) => {
			speaker.volume = volume;
			return amplifier.volume;
		});
		equal(volumes, [1, 161, 208, 256]);
		equal(speaker.volume, 100);
	},
	"ESP32: tells what the chip is": given(system, ({ system: esp32 }) => {
		equal(esp32.info(), {
			language: "en-US",
			flash_size: 16_777_216,
			psram_size: 8_388_608,
			minimum_free_heap_size: 100_000,
			reset_reason: "task watchdog",
			chip_model_name: "esp32s3",
			chip_info: { model: 9, cores: 2, revision: 2, features: 18 },
			ota: { label: "ota_1" },
			board: { type: "m5stack_cores3", name: "m5stack_cores3" },
		});
	}),
	"ESP32: numbers a chip that it has no name for"() {
		equal(system({ ...CHIP, model: 99 }).system.info().chip_model_name, "model 99");
	},
	"ESP32: restarts when it was told to, not before": given(system, ({ system: esp32, restarts, timer }) => {
		esp32.restart(1000);
		timer.pass(999);
		equal(restarts, []);
		timer.pass(1);
		equal(restarts, [1000]);
	}),
	"ESP32: has a thermometer only if the chip has one"() {
		equal(chipThermometer(CHIP)?.temperature, 41.5);
		equal(chipThermometer({ ...CHIP, temperature: undefined }), undefined);
	},
	"SDK's AXP192: the charge is estimated from the voltage that it measures"() {
		const levels = [3.0, 3.3, 3.7, 4.1, 4.2].map((volts) => new PowerChip(axp192(volts)).level);
		equal(levels, [0, 0, 50, 100, 100]);
	},
	"SDK's AXP192: is charging while current flows into the battery"() {
		const charging = [-120, 0, 95].map((current) => new PowerChip(axp192(3.7, current)).charging);
		equal(charging, [false, false, true]);
	},
	"SDK's AXP2101: charge and direction are read from its registers"() {
		const full = new PowerChip(axp2101({ 164: 255, 1: 0b0011_0101 }));
		equal([full.level, full.charging], [100, true]);
		const half = new PowerChip(axp2101({ 164: 50, 1: 0b0101_0101 }));
		equal([half.level, half.charging], [50, false]);
	},
	"SDK's power chip: sets the brightness, and keeps it where the class can only be told"() {
		const written: number[] = [];
		const chip = Object.defineProperty(axp192(4), "brightness", { set: (percent: number) => written.push(percent) });
		const power = new PowerChip(chip);
		power.brightness = 40;
		equal([written, power.brightness], [[40], 40]);
	},
	"backlight: hands brightness to the one that the target's setup defines"() {
		const written: number[] = [];
		const backlight = hostBacklight({ write: (percent) => written.push(percent) });
		backlight.brightness = 0;
		backlight.brightness = 75;
		equal([written, backlight.brightness], [[0, 75], 75]);
	},
});
