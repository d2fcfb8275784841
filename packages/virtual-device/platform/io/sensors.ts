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

/** A driver for a sensor. */
export interface SensorModel {
	/** Interface that reads it. */
	readonly io: "bus" | "analog" | "pulsewidth" | "onewire" | "dht";
	/** Default address on the bus; undefined for a sensor on a pin. */
	readonly address?: number;
	readonly sample: Sample;
	/** Whether the driver is the firmware's own, in src/hardware/drivers/sensors, in a file of its name in small letters. */
	readonly isOwn?: boolean;
	/** Fault of the SDK's driver, for the documentation. */
	readonly fault?: string;
}

/** Prefix of the names of drivers' modules. */
export const SENSOR = "embedded:sensor/";

const temperature: Reading = { value: 21.5, min: -40, max: 125, unit: "°C" };
const humidity: Reading = { value: 45, min: 0, max: 100, unit: "%" };
const pressure: Reading = { value: 101_325, min: 30_000, max: 110_000, unit: "Pa" };
const illuminance: Reading = { value: 320, min: 0, max: 65_535, unit: "lx" };
const moisture: Reading = { value: 50, min: 0, max: 100, unit: "%", factor: 0.01 };
const brightness: Reading = { value: 0.5, min: 0, max: 1 };
const counts: Reading = { value: 320, min: 0, max: 65_535 };
const voltage: Reading = { value: 1.65, min: 0, max: 4.096, unit: "V" };

const distance = (max: number): Reading => ({ value: 20, min: 0, max, unit: "cm" });

const axes = (limit: number, unit: string, z = 0, factor = 1): Sample => {
	const axis = { value: 0, min: -limit, max: limit, unit, factor };
	return { x: axis, y: axis, z: { ...axis, value: z } };
};

const thermometer = { temperature };
const barometer = { pressure };
const GRAVITY = 9.81;
const accelerometer = axes(156.96, "m/s²", GRAVITY);
const gyroscope = axes(2_000, "°/s");
const magnetometer = axes(4_900, "µT");

const onBus = (address: number, sample: Sample): SensorModel => ({ io: "bus", address, sample });
const own = (address: number, sample: Sample): SensorModel => ({ ...onBus(address, sample), isOwn: true });

const AIR: Sample = { hygrometer: { humidity }, thermometer };
const MOTION: Sample = { accelerometer, gyroscope };
const MOTION_IN_G: Sample = { accelerometer: axes(156.96, "m/s²", GRAVITY, 1 / GRAVITY), gyroscope, thermometer };
const IN_G = "acceleration in g: `scale: { accelerometer_x: 9.81, accelerometer_y: 9.81, accelerometer_z: 9.81 }`";
const WEATHER: Sample = { barometer, thermometer };

/**
 * Drivers of sensors with numeric readings, by the names of their modules after "embedded:sensor/": those of SDK 8.2.3, with its
 * samples, and the firmware's own.
 */
export const SENSORS: Readonly<Record<string, SensorModel>> = {
	"Accelerometer-Gyroscope-Magnetometer/BMI270": onBus(0x68, { magnetometer, ...MOTION }),
	"Accelerometer-Gyroscope/MPU6050": onBus(0x68, MOTION),
	"Accelerometer-Gyroscope/MPU6886": { ...onBus(0x68, MOTION_IN_G), fault: IN_G },
	"Accelerometer-Gyroscope/MPU9250": onBus(0x68, MOTION),
	"Accelerometer-Gyroscope/QMI8658": { ...onBus(0x6b, MOTION_IN_G), fault: IN_G },
	"Accelerometer-Gyroscope/SH200Q": {
		...onBus(0x6c, MOTION_IN_G),
		fault: `the temperature is made of bytes of the gyroscope; ${IN_G}`,
	},
	"Accelerometer/LIS3DH": onBus(0x18, accelerometer),
	"AmbientLight-Gesture-Proximity/APDS9960": onBus(0x39, {
		lightmeter: { clear: brightness, red: brightness, green: brightness, blue: brightness },
		proximity: { proximity: brightness },
	}),
	"AmbientLight-Proximity/LTR553ALS": onBus(0x23, {
		proximity: { distance: { value: 100, min: 0, max: 2_047 } },
		lightmeter: { illuminance: counts },
	}),
	"AmbientLight-Proximity/VL6180": onBus(0x29, {
		proximity: { distance: distance(25.4), near: true, max: 25.4 },
		lightmeter: { illuminance: counts },
	}),
	"AmbientLight/APDS9301": onBus(0x39, { illuminance, raw: counts, scaled: counts, ir: counts }),
	"AmbientLight/BH1750": own(0x23, { illuminance }),
	"Barometer-Humidity-Temperature/BME280": own(0x76, { barometer, ...AIR }),
	"Barometer-Humidity-Temperature/BME68x": {
		...onBus(0x77, { thermometer, hygrometer: { humidity: { ...humidity, factor: 0.01 } }, barometer }),
		fault: "humidity from 0 to 1: `scale: { humidity: 100 }`",
	},
	"Barometer-Temperature/BMP180": onBus(0x77, WEATHER),
	"Barometer-Temperature/BMP280": onBus(0x76, WEATHER),
	"CarbonDioxideGasSensor-Humidity-Temperature/SCD4x": own(0x62, {
		carbonDioxideGasSensor: { CO2: { value: 600, min: 0, max: 40_000, unit: "ppm" } },
		...AIR,
	}),
	"CarbonDioxideGasSensor-VOCSensor/CCS811": onBus(0x5a, {
		carbonDioxideGasSensor: { C02: { value: 600, min: 400, max: 32_768, unit: "ppm" } },
		vocSensor: { tvoc: { value: 100, min: 0, max: 32_768, unit: "ppb" } },
		current: 20,
		rawADC: 400,
	}),
	"Energy/INA219": own(0x40, {
		current: { value: 0.5, min: -3.2, max: 3.2, unit: "A" },
		voltage: { value: 5, min: 0, max: 32, unit: "V" },
		power: { value: 2.5, min: -102.4, max: 102.4, unit: "W" },
	}),
	"Gyroscope/L3GD20": onBus(0x6b, gyroscope),
	"Humidity-Temperature/AHT10": onBus(0x38, AIR),
	"Humidity-Temperature/AHT20": own(0x38, AIR),
	"Humidity-Temperature/AM2320": onBus(0x5c, AIR),
	"Humidity-Temperature/DHT": { io: "dht", sample: AIR, isOwn: true },
	"Humidity-Temperature/SHT3x": onBus(0x44, AIR),
	"Humidity-Temperature/SHT4x": own(0x44, AIR),
	"Humidity-Temperature/SHTC3": onBus(0x70, AIR),
	"Humidity-Temperature/SI7020": onBus(0x40, AIR),
	"Magnetometer/AK8963": {
		...onBus(0x0c, magnetometer),
		fault: "no values before `configure: { mode: 6 }`; bytes in the wrong order",
	},
	"Magnetometer/HMC5883": {
		...onBus(0x1e, magnetometer),
		fault: "no values before `configure: {}`, in mT; `z` has a wrong byte",
	},
	"Oxygen/SEN0322": onBus(0x73, { O: { value: 209_500, min: 0, max: 250_000, unit: "ppm" } }),
	"Proximity-Temperature/URM09": onBus(0x11, {
		proximity: { max: 500, distance: distance(500), near: true },
		thermometer,
	}),
	"Proximity/HC-SR04": { io: "pulsewidth", sample: { near: true, distance: distance(400), max: 400 } },
	"Proximity/VL53L0X": own(0x29, { distance: distance(200) }),
	"SoilMoistureSensor/Capacitive": {
		io: "analog",
		sample: { moisture },
		fault: "assumes a converter of 10 bits; the part `analog` has `from` and `to`",
	},
	"SoilMoistureSensor/ZIOQWIICMOISTURE": onBus(0x28, { moisture }),
	"Temperature/AMG88xx": onBus(0x69, { temperature }),
	"Temperature/DS18B20": { io: "onewire", sample: { temperature }, isOwn: true },
	"Temperature/LM75": onBus(0x48, { temperature }),
	"Temperature/MCP9808": own(0x18, { temperature }),
	"Temperature/MLX90614": onBus(0x5a, { ambientTemperature: temperature, temperature: { ...temperature, max: 380 } }),
	"Temperature/NTC_Thermistor": { io: "analog", sample: { temperature } },
	"Temperature/TMP102": onBus(0x48, { temperature, alert: false }),
	"Temperature/TMP117": onBus(0x48, { temperature, alert: 0 }),
	"Voltage/ADS1115": own(0x48, { voltage_0: voltage, voltage_1: voltage, voltage_2: voltage, voltage_3: voltage }),
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

/** Returns the static member `io` of a driver's class, from which the part `sensor` takes the module of its bus or pin. */
export function staticIo(module: string): string | undefined {
	const { io } = SENSORS[module.slice(SENSOR.length)] ?? {};
	return io === "bus" ? "embedded:io/smbus" : io === "onewire" || io === "dht" ? io : undefined;
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
