import { busSensor, checkId, command } from "./sensor-bus.js";

const ID = 0xd0;
const BME280_ID = 0x60;
const RESET = 0xe0;
const HUMIDITY_CONTROL = 0xf2;
const CONTROL = 0xf4;
const CONFIGURATION = 0xf5;
const DATA = 0xf7;

/** Registers with the calibration, and their number. */
const CALIBRATION = 0x88;
const CALIBRATED = 26;
const HUMIDITY_CALIBRATION = 0xe1;
const HUMIDITY_CALIBRATED = 7;

/** Time for a reset, and for the first measurement, ms. */
const STARTUP = 3;
const MEASUREMENT = 10;

/** A divisor in the formulas of the data sheet. */
const POWER_26 = 2 ** 26;

/** Returns the temperature in 5,120ths of a degree. */
const fineTemperature = (calibration: DataView, raw: number): number => {
	const T1 = calibration.getUint16(0, true);
	const [T2, T3] = [calibration.getInt16(2, true), calibration.getInt16(4, true)];
	const difference = raw / 131_072 - T1 / 8_192;
	return difference * 8 * T2 + difference * difference * T3;
};

/** Returns pascals. */
const pressureOf = (calibration: DataView, raw: number, fine: number): number => {
	const [P2 = 0, P3 = 0, P4 = 0, P5 = 0, P6 = 0, P7 = 0, P8 = 0, P9 = 0] = [8, 10, 12, 14, 16, 18, 20, 22].map((at) =>
		calibration.getInt16(at, true),
	);
	const P1 = calibration.getUint16(6, true);
	const half = fine / 2 - 64_000;
	const offset = ((half * half * P6) / 32_768 + half * P5 * 2) / 4 + P4 * 65_536;
	const slope = (1 + ((P3 * half * half) / 524_288 + P2 * half) / 524_288 / 32_768) * P1;
	const linear = ((1_048_576 - raw - offset / 4_096) * 6_250) / slope;
	return linear + ((P9 * linear * linear) / 2_147_483_648 + (linear * P8) / 32_768 + P7) / 16;
};

/** Returns percent. @param bytes calibration of the humidity, except for H1 */
const humidityOf = (bytes: DataView, H1: number, raw: number, fine: number): number => {
	const [H2, H3, H6] = [bytes.getInt16(0, true), bytes.getUint8(2), bytes.getInt8(6)];
	const H4 = (bytes.getInt8(3) << 4) | (bytes.getUint8(4) & 0x0f);
	const H5 = (bytes.getInt8(5) << 4) | (bytes.getUint8(4) >> 4);
	const warmth = fine - 76_800;
	const gain = (H2 / 65_536) * (1 + (H6 / POWER_26) * warmth * (1 + (H3 / POWER_26) * warmth));
	const linear = (raw - (H4 * 64 + (H5 / 16_384) * warmth)) * gain;
	return Math.min(100, Math.max(0, linear * (1 - (H1 * linear) / 524_288)));
};

/** Driver of Bosch's BME280, which measures once a second. Floating-point formulas of BST-BME280-DS001, 8.1. */
export default busSensor({
	address: 0x76,
	start(bus) {
		checkId(bus.readUint8(ID), BME280_ID);
		command(bus, [RESET, 0xb6], STARTUP);
		bus.writeUint8(HUMIDITY_CONTROL, 0b001);
		bus.writeUint8(CONFIGURATION, 0b101_000_00);
		command(bus, [CONTROL, 0b001_001_11], MEASUREMENT);
		const read = (register: number, count: number): DataView => new DataView(bus.readBuffer(register, count));
		return [read(CALIBRATION, CALIBRATED), read(HUMIDITY_CALIBRATION, HUMIDITY_CALIBRATED)] as const;
	},
	sample(bus, [calibration, ofHumidity]) {
		const data = new DataView(bus.readBuffer(DATA, 8));
		const twentyBits = (at: number): number => data.getUint32(at) >>> 12;
		const fine = fineTemperature(calibration, twentyBits(3));
		const humidity = humidityOf(ofHumidity, calibration.getUint8(25), data.getUint16(6), fine);
		return {
			barometer: { pressure: pressureOf(calibration, twentyBits(0), fine) },
			hygrometer: { humidity },
			thermometer: { temperature: fine / 5_120 },
		};
	},
});
