import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { xs_bme68x_get_data, xs_bme68x_init } from "../platform/natives/bme68x.js";
import { xs_bmp280_calculate, xs_bmp280_setCalibration } from "../platform/natives/bmp280.js";

// The stand-ins for functions in C, with the calibration of real chips: simulated chips have the simplest one.

function assertNear(actual: number, expected: number, difference: number): void {
	assert.ok(Math.abs(actual - expected) < difference, `${actual}, not ${expected}`);
}

describe("the functions in C of the SDK's drivers, on a virtual device", () => {
	it("calculate the example of the BMP280's datasheet, 3.12", () => {
		const chip = {};
		const P = { P1: 36_477, P2: -10_685, P3: 3_024, P4: 2_855, P5: 140, P6: -7, P7: 15_500, P8: -14_600, P9: 6_000 };
		xs_bmp280_setCalibration.call(chip, { T1: 27_504, T2: 26_435, T3: -1_000, ...P });
		const measured = xs_bmp280_calculate.call(chip, 519_888 << 4, 415_148 << 4) as Record<string, number>;
		assertNear(measured.temperature ?? 0, 25.08, 0.01);
		assertNear(measured.pressure ?? 0, 100_653.27, 0.1);
	});

	it("calculate what Bosch's library for the BME68x does", () => {
		const registers = new Uint8Array(256);
		const chip = {
			read: (register: number, count: number) => registers.slice(register, register + count).buffer,
			write: () => {},
		};
		const set = (register: number, ...words: number[]): void =>
			registers.set(
				words.flatMap((word) => [word & 0xff, (word >> 8) & 0xff]),
				register,
			);
		registers[0xd0] = 0x61;
		set(0x8a, 26_469, 3, 36_379, -10_372, 88, 6_735, -62);
		registers.set([41, 30], 0x98);
		set(0x9c, -738, -2_714, 30);
		registers.set([1_023 >> 4, ((1_023 & 15) << 4) | (783 & 15), 783 >> 4, 0, 45, 20, 120, -100], 0xe1);
		set(0xe9, 26_041);
		xs_bme68x_init.call(chip);
		// Raw values, and what calc_temperature, calc_pressure and calc_humidity of its version 4.4.7 return.
		for (const [t, p, h, temperature, pressure, humidity] of [
			[480_000, 330_000, 20_000, 19.989, 104_398.48, 37.098],
			[500_000, 350_000, 25_000, 26.302, 101_977.09, 69.771],
			[470_321, 412_345, 18_123, 16.935, 89_816.7, 26.407],
		] as const) {
			const bits = [p, t].flatMap((value) => [value >> 12, (value >> 4) & 0xff, (value & 15) << 4]);
			registers.set([0x80, 0, ...bits, h >> 8, h & 0xff], 0x1d);
			const [measured] = xs_bme68x_get_data.call(chip) as Record<string, number>[];
			assertNear(measured?.temperature ?? 0, temperature, 0.001);
			assertNear(measured?.pressure ?? 0, pressure, 0.1);
			assertNear(measured?.humidity ?? 0, humidity, 0.001);
		}
		registers[0x1d] = 0;
		assert.equal(xs_bme68x_get_data.call(chip), undefined);
	});
});
