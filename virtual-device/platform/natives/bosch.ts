/** The calibration of a chip, with the names and scales that the BMP280's datasheet has (§3.11.2); P10 only a BME68x has. */
export type Calibration = Readonly<Record<`T${1 | 2 | 3}` | `P${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10}`, number>>;

/**
 * Measurements of Bosch's chips of temperature and pressure, by the formulas of their datasheets (BMP280: §8.1).
 *
 * @param temperature the converter's 20 bits
 * @param pressure the converter's 20 bits
 * @returns °C and Pa
 */
export function compensate(c: Calibration, temperature: number, pressure: number) {
	const offset = temperature / 16_384 - c.T1 / 1_024;
	const fine = offset * c.T2 + (offset / 8) ** 2 * c.T3;
	const x = fine / 2 - 64_000;
	const shift = (x * x * c.P6) / 131_072 + (x * c.P5) / 2 + c.P4 * 65_536;
	const slope = (1 + ((c.P3 * x * x) / 524_288 + c.P2 * x) / 524_288 / 32_768) * c.P1;
	if (slope === 0) {
		throw new Error("the chip has no calibration");
	}
	const p = ((1_048_576 - pressure - shift / 4_096) * 6_250) / slope;
	const correction = (c.P9 * p * p) / 2_147_483_648 + (p * c.P8) / 32_768 + ((p / 256) ** 3 * c.P10) / 131_072 + c.P7;
	return { temperature: fine / 5_120, pressure: p + correction / 16 };
}

/** Signed numbers of 8 and 16 bits. */
export function int8(byte: number): number {
	return (byte << 24) >> 24;
}

export function int16(low: number, high: number): number {
	return (((high << 8) | low) << 16) >> 16;
}
