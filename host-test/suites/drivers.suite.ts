import Axp2101 from "../../src/hardware/drivers/axp2101.js";
import startEs7210 from "../../src/hardware/drivers/es7210.js";
import openEs8311 from "../../src/hardware/drivers/es8311.js";
import { esp32System } from "../../src/hardware/drivers/esp32-system.js";
import { setExpander } from "../../src/hardware/drivers/open-expander.js";
import { powerBattery, type SdkPower } from "../../src/hardware/drivers/open-power.js";
import { registerSpeaker } from "../../src/hardware/drivers/register-speaker.js";
import { fakeBus } from "../doubles/fake-bus.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, given, suite, throws } from "../harness.js";

const POWER = 0x34;
const LDO_ENABLE = 0x90;
const DLDO1_VOLTAGE = 0x99;

const CHIP = {
	model: 9,
	cores: 2,
	revision: 2,
	features: 18,
	flash_size: 16_777_216,
	psram_size: 8_388_608,
	minimum_free_heap_size: 100_000,
	resetReason: 6,
};

function system(data = CHIP) {
	const timer = new FakeTimer();
	const restarts: number[] = [];
	const chip = { label: "ota_1", numbers: data, restart: () => void restarts.push(timer.now), factoryReset: () => {} };
	return { timer, restarts, system: esp32System(chip, "aa:bb", "m5stack_cores3", timer) };
}

function axp2101(registers: Readonly<Record<number, number>> = {}): SdkPower {
	return { brightness: 0, readByte: (register) => registers[register] ?? 0, writeByte: () => {} };
}

function axp192(batteryVoltage: number, batteryCurrent = 0): SdkPower {
	return { brightness: 0, batteryVoltage, batteryCurrent, readByte: () => 0, writeByte: () => {} };
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
		const written: number[] = [];
		const speaker = registerSpeaker((volume) => written.push(volume), 1, 256);
		for (const volume of [0, 1, 50, 100]) {
			speaker.volume = volume;
		}
		equal(written, [1, 161, 208, 256]);
		equal(speaker.volume, 100);
	},
	"ES8311: has the board's volume as its own, but is silent until it is set": given(fakeBus, ({ bus, memory }) => {
		const volumes = [undefined, 100].map((volume, at) => {
			const codec = openEs8311(bus, 0x18 + at, false, volume);
			const before = memory.get(`${0x18 + at}/${0x32}`);
			// The application does this at start if no volume is stored.
			codec.volume = codec.volume as number;
			return [codec.volume, before, memory.get(`${0x18 + at}/${0x32}`)];
		});
		equal(volumes, [
			[70, 0, 0xbf - 29],
			[100, 0, 0xbf],
		]);
	}),
	"ES8311: is silent at 0, at 0 dB at 100, and softer in even steps between": given(fakeBus, ({ bus, memory }) => {
		const codec = openEs8311(bus);
		const register = (number: number): number | undefined => memory.get(`${0x18}/${number}`);
		const volumes = [100, 50, 1, 0].map((volume) => {
			codec.volume = volume;
			return register(0x32);
		});
		equal(volumes, [0xbf, 0x8f, 0x60, 0]);
		equal(codec.volume, 0);
	}),
	"ES8311: makes its clock of 256 times the sample rate from the master clock or the bit clock": given(
		fakeBus,
		({ bus, memory }) => {
			const clocks = [false, true].map((hasMasterClock, at) => {
				openEs8311(bus, 0x18 + at, hasMasterClock);
				return [memory.get(`${0x18 + at}/${0x01}`), memory.get(`${0x18 + at}/${0x02}`)];
			});
			// The source is bit 7; the factor, a power of two, is in bits 4 and 3.
			equal(clocks, [
				[0xbf, 3 << 3],
				[0x3f, 0],
			]);
		},
	),
	"ES8311: releases the bus if the chip does not answer": given(fakeBus, ({ bus, open, absent }) => {
		absent.add(0x18);
		throws(() => openEs8311(bus), /^write failed$/);
		equal(open.size, 0);
	}),
	"ES7210: sends two microphones as 16-bit I2S, and releases the bus": given(
		fakeBus,
		({ bus, memory, open, absent }) => {
			startEs7210(bus);
			// Format, channels, and the gains of the four microphones: bit 4 selects one.
			const registers = [0x11, 0x12, 0x43, 0x44, 0x45, 0x46].map((register) => memory.get(`${0x40}/${register}`));
			equal(registers, [0x60, 0, 0x1a, 0x1a, 0, 0]);
			absent.add(0x41);
			throws(() => startEs7210(bus, 0x41), /^write failed$/);
			equal(open.size, 0);
		},
	),
	"TCA9554: sets levels before directions, and leaves other pins inputs": given(fakeBus, ({ bus, writes, open }) => {
		setExpander(bus, { driver: "pca9557", address: 0x19, outputs: { 0: 0, 1: 1, 7: 1 } });
		equal(writes, [
			[0x19, 1, 0b1000_0010],
			[0x19, 3, 0b0111_1100],
		]);
		equal(open.size, 0);
	}),
	"TCA9555: sets the pins of both ports": given(fakeBus, ({ bus, writes }) => {
		setExpander(bus, { driver: "tca9555", outputs: { 0: 1, 8: 0, 15: 1 } });
		equal(writes, [
			[0x20, 2, 0b0000_0001],
			[0x20, 6, 0b1111_1110],
			[0x20, 3, 0b1000_0000],
			[0x20, 7, 0b0111_1110],
		]);
	}),
	"PI4IOE5V6408: makes pins outputs, and switches only them on": given(fakeBus, ({ bus, writes }) => {
		setExpander(bus, { driver: "pi4ioe5v6408", outputs: { 0: 1, 1: 0 } });
		equal(writes, [
			[0x43, 5, 0b01],
			[0x43, 3, 0b11],
			[0x43, 7, 0b1111_1100],
		]);
	}),
	"TCA9554: releases the bus if the chip does not answer": given(fakeBus, ({ bus, open, absent }) => {
		absent.add(0x20);
		throws(() => setExpander(bus, { driver: "tca9554", outputs: { 0: 1 } }), /^write failed$/);
		equal(open.size, 0);
	}),
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
	"SDK's AXP192: the charge is estimated from the voltage that it measures"() {
		const levels = [3.0, 3.3, 3.7, 4.1, 4.2].map((volts) => powerBattery(axp192(volts)).level);
		equal(levels, [0, 0, 50, 100, 100]);
	},
	"SDK's AXP192: is charging while current flows into the battery"() {
		const charging = [-120, 0, 95].map((current) => powerBattery(axp192(3.7, current)).charging);
		equal(charging, [false, false, true]);
	},
	"SDK's AXP2101: charge and direction are read from its registers"() {
		const full = powerBattery(axp2101({ 164: 255, 1: 0b0011_0101 }));
		equal([full.level, full.charging], [100, true]);
		const half = powerBattery(axp2101({ 164: 50, 1: 0b0101_0101 }));
		equal([half.level, half.charging], [50, false]);
	},
	"SDK's power chip: sets the brightness, and keeps it where the class can only be told"() {
		const written: number[] = [];
		const chip = Object.defineProperty(axp192(4), "brightness", { set: (percent: number) => written.push(percent) });
		const power = powerBattery(chip);
		power.brightness = 40;
		equal([written, power.brightness], [[40], 40]);
	},
});
