import { type Calibration, compensate, int8, int16 } from "./bosch.js";

// Stand in for the functions in C of the SDK's driver of the BME680 and BME688: bme68xlib.c and Bosch's library. Gas and
// heater are left out.

/** The driver, which reads and writes registers. */
interface Driver {
	read(register: number, count: number): ArrayBuffer;
	write(bytes: ArrayBuffer): void;
}

interface Settings {
	readonly filter: number;
	readonly odr: number;
	readonly os_hum: number;
	readonly os_pres: number;
	readonly os_temp: number;
}

/** The calibration of its humidity sensor: H1 to H7. */
type Humidity = readonly [h1: number, h2: number, h3: number, h4: number, h5: number, h6: number, h7: number];

const CHIP_ID = 0xd0;
const RESET = 0xe0;
const COEFFICIENTS = [0x8a, 0xe1] as const;
const CONTROL_GAS = 0x71;
const CONTROL_HUMIDITY = 0x72;
const CONTROL_MEASURE = 0x74;
const CONFIG = 0x75;
const FIELDS = 0x1d;
const FIELD_BYTES = 17;
const MODE = 0x03;

const calibrations = new WeakMap<object, { readonly air: Calibration; readonly humidity: Humidity }>();

/** @throws Error if it is another chip */
export function xs_bme68x_init(this: Driver): void {
	xs_bme68x_soft_reset.call(this);
	if (readByte(this, CHIP_ID) !== 0x61) {
		throw new Error("init fail");
	}
	const [a, b] = COEFFICIENTS.map((register) => new Uint8Array(this.read(register, 23))) as [Uint8Array, Uint8Array];
	const at = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0;
	const word = (bytes: Uint8Array, index: number): number => int16(at(bytes, index), at(bytes, index + 1));
	const byte = (bytes: Uint8Array, index: number): number => int8(at(bytes, index));
	calibrations.set(this, {
		// Its scales as those of a BMP280.
		air: {
			T1: word(b, 8) & 0xffff,
			T2: word(a, 0),
			T3: byte(a, 2) * 16,
			P1: word(a, 4) & 0xffff,
			P2: word(a, 6),
			P3: byte(a, 8) * 32,
			P4: word(a, 10),
			P5: word(a, 12),
			P6: byte(a, 15) / 4,
			P7: byte(a, 14) * 128,
			P8: word(a, 18),
			P9: word(a, 20),
			P10: at(a, 22),
		},
		humidity: [
			(at(b, 2) << 4) | (at(b, 1) & 15),
			(at(b, 0) << 4) | (at(b, 1) >> 4),
			byte(b, 3),
			byte(b, 4),
			byte(b, 5),
			at(b, 6),
			byte(b, 7),
		],
	});
}

export function xs_bme68x_soft_reset(this: Driver): void {
	writeByte(this, RESET, 0xb6);
}

export function xs_bme68x_set_conf(this: Driver, settings: Settings): void {
	const { filter, odr, os_hum, os_pres, os_temp } = settings;
	const mode = xs_bme68x_get_op_mode.call(this);
	xs_bme68x_set_op_mode.call(this, 0);
	writeByte(this, CONTROL_GAS, (readByte(this, CONTROL_GAS) & 0x7f) | (odr > 7 ? 0x80 : 0));
	writeByte(this, CONTROL_HUMIDITY, os_hum);
	writeByte(this, CONTROL_MEASURE, (os_temp << 5) | (os_pres << 2));
	writeByte(this, CONFIG, ((odr & 7) << 5) | (filter << 2));
	xs_bme68x_set_op_mode.call(this, mode);
}

export function xs_bme68x_set_heatr_conf(): void {}

export function xs_bme68x_set_op_mode(this: Driver, mode: number): void {
	writeByte(this, CONTROL_MEASURE, (readByte(this, CONTROL_MEASURE) & ~MODE) | (mode & MODE));
}

export function xs_bme68x_get_op_mode(this: Driver): number {
	return readByte(this, CONTROL_MEASURE) & MODE;
}

/** @returns the new measurements, the oldest first; undefined without any */
export function xs_bme68x_get_data(this: Driver): object[] | undefined {
	const calibration = calibrations.get(this);
	const bytes = new Uint8Array(this.read(FIELDS, 3 * FIELD_BYTES));
	const fields = [0, 1, 2]
		.map((index) => bytes.subarray(index * FIELD_BYTES, (index + 1) * FIELD_BYTES))
		.filter(([status = 0]) => status & 0x80)
		.sort(([, one = 0], [, other = 0]) => one - other);
	if (calibration === undefined || fields.length === 0) {
		return undefined;
	}
	return fields.map((field) => {
		const at = (index: number): number => field[index] ?? 0;
		const bits = (index: number): number => (at(index) << 12) | (at(index + 1) << 4) | (at(index + 2) >> 4);
		const air = compensate(calibration.air, bits(5), bits(2));
		const humidity = humidityOf(calibration.humidity, (at(8) << 8) | at(9), air.temperature);
		return { status: 0x80, gas_index: at(0) & 15, meas_index: at(1), ...air, humidity };
	});
}

/** @returns percent */
function humidityOf([h1, h2, h3, h4, h5, h6, h7]: Humidity, raw: number, temperature: number): number {
	const offset = raw - (h1 * 16 + (h3 / 2) * temperature);
	const slope = (h2 / 262_144) * (1 + (h4 / 16_384) * temperature + (h5 / 1_048_576) * temperature ** 2);
	const linear = offset * slope;
	const humidity = linear + (h6 / 16_384 + (h7 / 2_097_152) * temperature) * linear ** 2;
	return Math.min(100, Math.max(0, humidity));
}

function readByte(driver: Driver, register: number): number {
	return new Uint8Array(driver.read(register, 1))[0] ?? 0;
}

function writeByte(driver: Driver, register: number, byte: number): void {
	driver.write(Uint8Array.of(register, byte).buffer as ArrayBuffer);
}
