/** A reading that a driver's sample has. */
export interface Reading {
	readonly value: number;
	readonly min: number;
	readonly max: number;
	readonly unit?: string;
	/** Factor from this unit to the driver's. Default 1. */
	readonly factor?: number;
}

/** Members of a sample (ECMA-419 §13): readings, constants, and objects of them. */
interface Sample {
	readonly [member: string]: Reading | Sample | number | boolean;
}

/** A driver of the SDK's for a sensor. */
export interface SensorModel {
	/** The class that its option `io` takes: "embedded:io/…". */
	readonly io: "i2c" | "smbus" | "analog" | "pulsewidth";
	/** Default address on the bus; undefined for a sensor on a pin of its own. */
	readonly address?: number;
	readonly sample: Sample;
}

const temperature: Reading = { value: 21.5, min: -40, max: 125, unit: "°C" };
const humidity: Reading = { value: 45, min: 0, max: 100, unit: "%" };
const pressure: Reading = { value: 101_325, min: 30_000, max: 110_000, unit: "Pa" };
const illuminance: Reading = { value: 320, min: 0, max: 65_535, unit: "lx" };
const moisture: Reading = { value: 50, min: 0, max: 100, unit: "%", factor: 0.01 };
const brightness: Reading = { value: 0.5, min: 0, max: 1 };
const counts: Reading = { value: 320, min: 0, max: 65_535 };

const distance = (max: number): Reading => ({ value: 20, min: 0, max, unit: "cm" });

const axes = (limit: number, unit: string, z = 0): Sample => {
	const axis = { value: 0, min: -limit, max: limit, unit };
	return { x: axis, y: axis, z: { ...axis, value: z } };
};

const thermometer = { temperature };
const barometer = { pressure };
const accelerometer = axes(156.96, "m/s²", 9.81);
const gyroscope = axes(2_000, "°/s");
const magnetometer = axes(4_900, "µT");

const onI2c = (address: number, sample: Sample): SensorModel => ({ io: "i2c", address, sample });
const onSmbus = (address: number, sample: Sample): SensorModel => ({ io: "smbus", address, sample });

const AIR: Sample = { hygrometer: { humidity }, thermometer };
const MOTION: Sample = { accelerometer, gyroscope };
const WEATHER: Sample = { barometer, thermometer };

/**
 * The SDK's drivers of sensors with numeric readings, by the names of their modules after "embedded:sensor/". Samples are those
 * of SDK 8.2.3.
 */
export const SENSORS: Readonly<Record<string, SensorModel>> = {
	"Accelerometer-Gyroscope-Magnetometer/BMI270": onSmbus(0x68, { magnetometer, ...MOTION }),
	"Accelerometer-Gyroscope/MPU6050": onSmbus(0x68, MOTION),
	"Accelerometer-Gyroscope/MPU6886": onSmbus(0x68, { ...MOTION, thermometer }),
	"Accelerometer-Gyroscope/MPU9250": onSmbus(0x68, MOTION),
	"Accelerometer-Gyroscope/QMI8658": onSmbus(0x6b, { thermometer, ...MOTION }),
	"Accelerometer-Gyroscope/SH200Q": onSmbus(0x6c, { ...MOTION, thermometer }),
	"Accelerometer/LIS3DH": onSmbus(0x18, accelerometer),
	"AmbientLight-Gesture-Proximity/APDS9960": onSmbus(0x39, {
		lightmeter: { clear: brightness, red: brightness, green: brightness, blue: brightness },
		proximity: { proximity: brightness },
	}),
	"AmbientLight-Proximity/LTR553ALS": onSmbus(0x23, {
		proximity: { distance: { value: 100, min: 0, max: 2_047 } },
		lightmeter: { illuminance: counts },
	}),
	"AmbientLight-Proximity/VL6180": onI2c(0x29, {
		proximity: { distance: distance(25.4), near: true, max: 25.4 },
		lightmeter: { illuminance: counts },
	}),
	"AmbientLight/APDS9301": onSmbus(0x39, { illuminance, raw: counts, scaled: counts, ir: counts }),
	"Barometer-Humidity-Temperature/BME68x": onI2c(0x77, {
		thermometer,
		hygrometer: { humidity: { ...humidity, factor: 0.01 } },
		barometer,
	}),
	"Barometer-Temperature/BMP180": onI2c(0x77, WEATHER),
	"Barometer-Temperature/BMP280": onI2c(0x76, WEATHER),
	"CarbonDioxideGasSensor-VOCSensor/CCS811": onSmbus(0x5a, {
		carbonDioxideGasSensor: { C02: { value: 600, min: 400, max: 32_768, unit: "ppm" } },
		vocSensor: { tvoc: { value: 100, min: 0, max: 32_768, unit: "ppb" } },
		current: 20,
		rawADC: 400,
	}),
	"Gyroscope/L3GD20": onSmbus(0x6b, gyroscope),
	"Humidity-Temperature/AHT10": onI2c(0x38, AIR),
	"Humidity-Temperature/AM2320": onI2c(0x5c, AIR),
	"Humidity-Temperature/SHT3x": onI2c(0x44, AIR),
	"Humidity-Temperature/SHTC3": onI2c(0x70, AIR),
	"Humidity-Temperature/SI7020": onI2c(0x40, AIR),
	"Magnetometer/AK8963": onSmbus(0x0c, magnetometer),
	"Magnetometer/HMC5883": onSmbus(0x1e, magnetometer),
	"Oxygen/SEN0322": onI2c(0x73, { O: { value: 209_500, min: 0, max: 250_000, unit: "ppm" } }),
	"Proximity-Temperature/URM09": onSmbus(0x11, {
		proximity: { max: 500, distance: distance(500), near: true },
		thermometer,
	}),
	"Proximity/HC-SR04": { io: "pulsewidth", sample: { near: true, distance: distance(400), max: 400 } },
	"SoilMoistureSensor/Capacitive": { io: "analog", sample: { moisture } },
	"SoilMoistureSensor/ZIOQWIICMOISTURE": onSmbus(0x28, { moisture }),
	"Temperature/AMG88xx": onSmbus(0x69, { temperature }),
	"Temperature/LM75": onSmbus(0x48, { temperature }),
	"Temperature/MLX90614": onSmbus(0x5a, { ambientTemperature: temperature, temperature: { ...temperature, max: 380 } }),
	"Temperature/NTC_Thermistor": { io: "analog", sample: { temperature } },
	"Temperature/TMP102": onSmbus(0x48, { temperature, alert: false }),
	"Temperature/TMP117": onSmbus(0x48, { temperature, alert: 0 }),
};

/**
 * Returns the readings of a sensor by their names in the device's status: "temperature", "accelerometer_x".
 *
 * @param type the last word of its driver's name: "SHT3x". None of a chip with registers
 */
export function readingsOf(type: string): Readonly<Record<string, Reading>> {
	const readings: Record<string, Reading> = {};
	const [, { sample = {} } = {}] = Object.entries(SENSORS).find(([name]) => name.endsWith(`/${type}`)) ?? [];
	mapSample(sample, (reading, name) => {
		// A copy, because XS cannot stringify an object in flash.
		readings[name] = { ...reading };
		return 0;
	});
	return readings;
}

/**
 * Makes a driver's sample.
 *
 * @param read returns the value of a reading, in the driver's unit
 */
export function mapSample(
	sample: Sample,
	read: (reading: Reading, name: string) => number,
	prefix = "",
): Record<string, unknown> {
	const map = ([member, each]: [string, Sample[string]]) => {
		if (typeof each !== "object") {
			return [member, each];
		}
		return [
			member,
			isReading(each)
				? read(each, nameOf(`${prefix}${member}`))
				: mapSample(each, read, "x" in each ? `${member}_` : ""),
		];
	};
	return Object.fromEntries(Object.entries(sample).map(map));
}

function nameOf(member: string): string {
	const name = member.toLowerCase();
	return name === "c02" ? "co2" : name;
}

function isReading(member: Reading | Sample): member is Reading {
	return typeof member.value === "number";
}
