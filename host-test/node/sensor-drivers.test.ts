import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { readingsOf, SENSORS } from "xs-mcp-virtual-device/sensors";
import { flattened } from "../../src/hardware/parts/sample-values.js";
import { noSdk, sdk } from "../support/sdk.js";
import { importDriver, type Script, scriptedBus } from "../support/sensor-driver.js";

/** A driver, what its chip answers, and the sample that the datasheet computes of that. */
type Case = readonly [name: string, script: Script, sample: object];

/** Readings of the examples in Sensirion's datasheets: the checksum of 0xbeef is 0x92. */
const BEEF = "beef92";

/** Rounds the numbers of a sample to 2 decimals. */
const rounded = (sample: unknown): unknown =>
	JSON.parse(JSON.stringify(sample), (_, value) => (typeof value === "number" ? Math.round(value * 100) / 100 : value));

/** Bosch's example (BST-BMP280-DS001, 3.12), and the humidity that BST-BME280-DS001, 8.2 computes in integers. */
const BOSCH = {
	d0: "60",
	"88": "706b436718fc7d8e43d6d00b270b8c00f9ff8c3cf8c67017004b",
	e1: "7201001329031e",
	f7: "655ac07eed007649",
};

/** A VL53L0X with five reference detectors behind an aperture, which always has a new distance. */
const LASER = { c0: "ee", "83": "01", "92": "85", b0: "ffffffffffff", "13": "07" };

const OWN: readonly Case[] = [
	["AmbientLight/BH1750", { "10": "8390" }, { illuminance: 28_066.67 }],
	[
		"Barometer-Humidity-Temperature/BME280",
		BOSCH,
		{ barometer: { pressure: 100_653.27 }, hygrometer: { humidity: 57.8 }, thermometer: { temperature: 25.08 } },
	],
	[
		"CarbonDioxideGasSensor-Humidity-Temperature/SCD4x",
		{ e4b8: "800604", ec05: "01f4336667a25eb93c" },
		{ carbonDioxideGasSensor: { CO2: 500 }, hygrometer: { humidity: 37 }, thermometer: { temperature: 25 } },
	],
	["Energy/INA219", { "01": "07d0", "02": "5d98" }, { current: 0.2, voltage: 11.98, power: 2.4 }],
	[
		"Humidity-Temperature/AHT20",
		{ ac3300: "1c80000600004e" },
		{ hygrometer: { humidity: 50 }, thermometer: { temperature: 25 } },
	],
	[
		"Humidity-Temperature/SHT4x",
		{ fd: BEEF + BEEF },
		{ hygrometer: { humidity: 87.23 }, thermometer: { temperature: 85.52 } },
	],
	["Proximity/VL53L0X", { ...LASER, "14": "58000000000000000000007b" }, { distance: 12.3 }],
	["Proximity/VL53L0X", { ...LASER, "14": "200000000000000000001ffe" }, { distance: 200 }],
	["Temperature/MCP9808", { "06": "0054", "05": "c194" }, { temperature: 25.25 }],
	["Temperature/MCP9808", { "06": "0054", "05": "1ffc" }, { temperature: -0.25 }],
	[
		"Voltage/ADS1115",
		{ "00": ["4000", "8000", "7fff", "0000"] },
		{ voltage_0: 2.05, voltage_1: -4.1, voltage_2: 4.1, voltage_3: 0 },
	],
];

/** Chips and drivers of SDK 8.2.3. Where the catalog names a fault, its driver returns another sample than this, the right one. */
const SDK: readonly Case[] = [
	[
		"Accelerometer-Gyroscope/MPU6050",
		{ "75": "68", "3b": "40000000c000", "43": "008300000000" },
		{ accelerometer: { x: 9.81, y: 0, z: -9.81 }, gyroscope: { x: 1, y: 0, z: 0 } },
	],
	[
		"Accelerometer-Gyroscope/MPU6886",
		{ "75": "19", "3b": "10000000f0000000400000000000" },
		{
			accelerometer: { x: 9.81, y: 0, z: -9.81 },
			thermometer: { temperature: 25 },
			gyroscope: { x: 1_000, y: 0, z: 0 },
		},
	],
	[
		"Accelerometer-Gyroscope/MPU9250",
		{ "75": "71", "3b": "40000000c000", "43": "008300000000" },
		{ accelerometer: { x: 9.81, y: 0, z: -9.81 }, gyroscope: { x: 1, y: 0, z: 0 } },
	],
	[
		"Accelerometer-Gyroscope/QMI8658",
		{ "00": "05", "33": "00190010000000f0004000000000" },
		{ thermometer: { temperature: 25 }, accelerometer: { x: 9.81, y: 0, z: -9.81 }, gyroscope: { x: 256, y: 0, z: 0 } },
	],
	[
		"Accelerometer-Gyroscope/SH200Q",
		{ "30": "18", "00": "10000000f000", "06": "400000000000", "0c": "0000" },
		{
			accelerometer: { x: 9.81, y: 0, z: -9.81 },
			gyroscope: { x: 1_000, y: 0, z: 0 },
			thermometer: { temperature: 21 },
		},
	],
	["Accelerometer/LIS3DH", { "0f": "33", a8: "0010000000f0" }, { x: 4.9, y: 0, z: -4.9 }],
	[
		"AmbientLight-Gesture-Proximity/APDS9960",
		{ "92": "ab", "93": "03", "94": "0a28000000000000", "9c": "ff" },
		{ lightmeter: { clear: 1, red: 0, green: 0, blue: 0 }, proximity: { proximity: 1 } },
	],
	[
		"AmbientLight-Proximity/LTR553ALS",
		{ "86": "92", "87": "05", "8d": "6400", "88": "4001", "8a": "4001" },
		{ proximity: { distance: 100 }, lightmeter: { illuminance: 320 } },
	],
	[
		"AmbientLight-Proximity/VL6180",
		{ "0000": "b4", "004f": "24", "0062": "c8", "0050": "03e8" },
		{ proximity: { distance: 20, near: true, max: 25.4 }, lightmeter: { illuminance: 316.83 } },
	],
	[
		"AmbientLight/APDS9301",
		{ "8a": "50", ec: "e803", ee: "0000" },
		{ illuminance: 486.4, raw: 1_000, scaled: 16_000, ir: 0 },
	],
	[
		"CarbonDioxideGasSensor-VOCSensor/CCS811",
		{ "20": "81", "00": "98", "02": "0258006400005190" },
		{ carbonDioxideGasSensor: { C02: 600 }, vocSensor: { tvoc: 100 }, current: 20, rawADC: 400 },
	],
	["Gyroscope/L3GD20", { "0f": "d4", a8: "640000009cff" }, { x: 0.88, y: 0, z: -0.88 }],
	[
		"Humidity-Temperature/AHT10",
		{ ac3300: "1c8000060000" },
		{ hygrometer: { humidity: 50 }, thermometer: { temperature: 25 } },
	],
	[
		"Humidity-Temperature/AM2320",
		{ "030002": "030201f4a1b7", "030202": "03028065004b" },
		{ hygrometer: { humidity: 50 }, thermometer: { temperature: -10.1 } },
	],
	[
		"Humidity-Temperature/SHT3x",
		{ "2c06": BEEF + BEEF },
		{ hygrometer: { humidity: 74.58 }, thermometer: { temperature: 85.52 } },
	],
	[
		"Humidity-Temperature/SHTC3",
		{ efc8: "08875b", "7ca2": BEEF + BEEF },
		{ thermometer: { temperature: 85.52 }, hygrometer: { humidity: 74.58 } },
	],
	[
		"Humidity-Temperature/SI7020",
		{ e3: "683a7c", e5: "7c8000" },
		{ hygrometer: { humidity: 54.79 }, thermometer: { temperature: 24.69 } },
	],
	["Magnetometer/AK8963", { "00": "48", "10": "808080", "02": "01", "03": "6400000000" }, { x: 59.98, y: 0, z: 0 }],
	["Magnetometer/HMC5883", { "0a": "483433", "03": "044c00000000" }, { x: 100, z: 0, y: 0 }],
	["Oxygen/SEN0322", { "0a": "00", "03": "780000" }, { O: 209_000 }],
	[
		"Proximity-Temperature/URM09",
		{ "01": "01", "03": "0014", "05": "00d7" },
		{ proximity: { max: 500, distance: 20, near: true }, thermometer: { temperature: 21.5 } },
	],
	["SoilMoistureSensor/ZIOQWIICMOISTURE", { "05": "0002" }, { moisture: 0.5 }],
	["Temperature/AMG88xx", { "0e": "9001" }, { temperature: 25, temperatures: Object.assign({}, Array(64).fill(0)) }],
	["Temperature/LM75", { "00": "e700" }, { temperature: -25 }],
	["Temperature/MLX90614", { "06": "f73a00", "07": "d23a00" }, { ambientTemperature: 28.75, temperature: 28.01 }],
	["Temperature/TMP102", { "00": "e700", "01": "60a0" }, { temperature: -25, alert: false }],
	["Temperature/TMP117", { "0f": "0117", "00": "f380" }, { temperature: -25, alert: 0 }],
];

/** An analog pin of 12 bits at half of the voltage. */
class Analog {
	readonly resolution = 12;

	read(): number {
		return 2_048;
	}
}

const ANALOG: readonly Case[] = [
	["SoilMoistureSensor/Capacitive", {}, { moisture: 0.5 }],
	["Temperature/NTC_Thermistor", {}, { temperature: 25 }],
];

/** Drivers of the SDK in C, which Node cannot run, and one whose bus is not scripted here. */
const NOT_RUN = ["BMI270", "BME68x", "BMP180", "BMP280", "HC-SR04"];

const typeOf = (name: string): string => name.slice(name.indexOf("/") + 1);

/** Samples once, and expects the values that the catalog has. */
async function check([name, script, expected]: Case, io: object = scriptedBus(script)): Promise<void> {
	const Driver = await importDriver(name, sdk);
	const sample = new Driver({ sensor: { io } }).sample();
	const { fault } = SENSORS[name] as (typeof SENSORS)[string];
	if (fault !== undefined) {
		assert.notDeepEqual(rounded(sample), expected, `the SDK has cured it: ${fault}`);
		return;
	}
	assert.deepEqual(rounded(sample), expected);
	const { kinds, reading } = flattened(sample as object);
	const readings = Object.keys(readingsOf(typeOf(name)));
	// The only value of a sensor along three axes has the name of its kind.
	const names = kinds.length === 1 && typeof reading === "object" ? Object.keys(reading) : kinds;
	const missing = readings.filter(
		(each) => !names.includes(each.replace(/^.*_(?=[xyz]$)/, "")) && !names.includes(each),
	);
	assert.deepEqual(missing, []);
}

describe("the firmware's own drivers of sensors", () => {
	for (const each of OWN) {
		it(`${each[0]} computes what its datasheet says: ${JSON.stringify(each[2])}`, () => check(each));
	}

	it("reject what has a wrong checksum or identity, and close the bus of a chip that they cannot set up", async () => {
		const wrong = "beef93";
		await assert.rejects(check(["Humidity-Temperature/SHT4x", { fd: wrong + wrong }, {}]), /wrong checksum/);
		const written: string[] = [];
		const BME280 = await importDriver("Barometer-Humidity-Temperature/BME280", sdk);
		assert.throws(
			() => new BME280({ sensor: { io: scriptedBus({ d0: "58" }, written) } }),
			/^Error: the chip has the identity 0x58, expected 0x60$/,
		);
		assert.equal(written.at(-1), "closed");
	});

	it("BME280 closes the bus of a chip that stops answering during the set-up", async () => {
		const written: string[] = [];
		const io = class extends scriptedBus(BOSCH, written) {
			override readBuffer(): never {
				throw new Error("no answer");
			}
		};
		const BME280 = await importDriver("Barometer-Humidity-Temperature/BME280", sdk);
		assert.throws(() => new BME280({ sensor: { io } }), /^Error: no answer$/);
		assert.equal(written.at(-1), "closed");
	});

	it("VL53L0X enables the detectors that its memory names, and gives up on a chip that does not calibrate", async () => {
		const VL53L0X = await importDriver("Proximity/VL53L0X", sdk);
		const written: string[] = [];
		new VL53L0X({ sensor: { io: scriptedBus(LASER, written) } });
		const spads = written.indexOf("b000f001000000");
		assert.ok(spads > 0, String(written));
		const stop = ["ff01", "0000", "9100", "0001", "ff00"];
		const stopped = written.findIndex((_, at) => stop.every((each, next) => written[at + next] === each));
		assert.ok(stopped > 0 && stopped < spads, "a chip that measures since before a restart is stopped first");
		assert.equal(written.at(-1), "0002", "it measures continuously");
		const stuck: string[] = [];
		assert.throws(
			() => new VL53L0X({ sensor: { io: scriptedBus({ ...LASER, "13": "00" }, stuck) } }),
			/^Error: the chip does not answer in time$/,
		);
		assert.equal(stuck.at(-1), "closed");
	});

	for (const [name, script] of [
		["CarbonDioxideGasSensor-Humidity-Temperature/SCD4x", { e4b8: "8000a2" }],
		["Humidity-Temperature/AHT20", { ac3300: "9c80000600004e" }],
	] as const) {
		it(`${name} has no sample until one is ready, and fails when there is none for 15 s`, async (t) => {
			const Driver = await importDriver(name, sdk);
			t.mock.timers.enable({ apis: ["Date"] });
			const sensor = new Driver({ sensor: { io: scriptedBus(script) } });
			assert.equal(sensor.sample(), undefined);
			t.mock.timers.tick(15_000);
			assert.equal(sensor.sample(), undefined);
			t.mock.timers.tick(1);
			assert.throws(() => sensor.sample(), /^Error: the chip has stopped measuring$/);
		});
	}

	it("INA219 computes with its shunt, and rejects one without resistance", async () => {
		const INA219 = await importDriver("Energy/INA219", sdk);
		const meter = new INA219({ sensor: { io: scriptedBus({ "01": "07d0", "02": "5d98" }) } });
		meter.configure?.({ ohms: 0.002 });
		assert.deepEqual(rounded(meter.sample()), { current: 10, voltage: 11.98, power: 119.8 });
		assert.throws(() => meter.configure?.({ ohms: 0 }), /^RangeError: ohms: expected a number above 0, got 0$/);
	});

	it("DS18B20 reads the temperatures of its datasheet, also below zero, and says what is wrong", async (t) => {
		const { DS18B20, OneWire, sensor, read, line } = await openThermometer(t);
		assert.equal(sensor.sample(), undefined);
		assert.deepEqual(read("d0074b467fff0c10f4"), { temperature: 125 });
		assert.deepEqual(read("91014b467fff0c1070"), { temperature: 25.0625 });
		assert.deepEqual(read("f8ff4b467fff0c10c3"), { temperature: -0.5 });
		assert.deepEqual(read("5eff4b467fff0c106a"), { temperature: -10.125 });
		assert.deepEqual(line.written.slice(0, 6), [0xcc, 0x44, 0xcc, 0xbe, 0xcc, 0x44]);
		assert.throws(() => read("5eff4b467fff0c1000"), /^Error: wrong checksum: is it the only sensor on its pin\?$/);
		line.isPresent = false;
		assert.throws(() => read(""), /^Error: no answer: the pin needs a resistor of 4\.7 kΩ to 3\.3 V$/);
		assert.throws(() => new DS18B20({ sensor: { io: OneWire, pin: 4 } }), /no answer/);
	});

	it("DS18B20 never reports the 85 °C of its power-on", async (t) => {
		const { read, line } = await openThermometer(t);
		assert.deepEqual(read("91014b467fff0f1025"), { temperature: 25.0625 });
		assert.throws(() => read(POWER_ON), /lost its power/);
		t.mock.timers.tick(1_000);
		for (const chip of [POWER_ON, POWER_ON_OF_COPY]) {
			line.isPresent = false;
			assert.throws(() => read(""), /no answer/);
			line.isPresent = true;
			assert.throws(() => read(chip), /no answer/);
			assert.deepEqual(read("91014b467fff0f1025"), { temperature: 25.0625 });
		}
	});

	it("DS18B20 rejects the zeros of a line that is held low", async (t) => {
		const { read } = await openThermometer(t);
		assert.throws(() => read("00".repeat(9)), /held low/);
	});
});

describe("the driver of the DHT11 and DHT22", () => {
	/** Opens it on a line whose answers the test gives, and measures once for each. */
	const openDht = async (t: TestContext) => {
		t.mock.timers.enable({ apis: ["setInterval"] });
		const DHT = await importDriver("Humidity-Temperature/DHT", sdk);
		const line = { answer: "", steps: [] as string[] };
		class Line {
			readonly wake = () => line.steps.push("wake");
			readonly listen = () => line.steps.push("listen");
			readonly read = () => (line.answer === "" ? undefined : new Uint8Array(Buffer.from(line.answer, "hex")).buffer);
			readonly close = () => line.steps.push("close");
		}
		const sensor = new DHT({ sensor: { io: Line, pin: 4 } });
		const measure = (answer: string) => {
			line.answer = answer;
			t.mock.timers.tick(2_500);
			return sensor.sample();
		};
		return { sensor, line, measure };
	};
	const air = (humidity: number, temperature: number): object => ({
		hygrometer: { humidity },
		thermometer: { temperature },
	});

	it("reads the examples of their datasheets, and temperatures below zero", async (t) => {
		const { sensor, line, measure } = await openDht(t);
		assert.equal(sensor.sample(), undefined);
		assert.deepEqual(measure("028c015fee"), air(65.2, 35.1));
		assert.deepEqual(measure("028c806573"), air(65.2, -10.1));
		assert.deepEqual(measure("3500180451"), air(53, 24.4));
		assert.deepEqual(measure("35000a81c0"), air(53, -10.1));
		assert.deepEqual(line.steps.slice(0, 3), ["wake", "listen", "wake"]);
		sensor.close();
		assert.equal(line.steps.at(-1), "close");
	});

	it("keeps its values during two failed measurements, fails from the third on, and recovers", async (t) => {
		const { sensor, measure } = await openDht(t);
		assert.equal(measure(""), undefined);
		for (let round = 0; round < 2; round += 1) {
			assert.deepEqual(measure("028c015fee"), air(65.2, 35.1));
			assert.deepEqual(measure("028c015fef"), air(65.2, 35.1));
			assert.deepEqual(measure(""), air(65.2, 35.1));
		}
		assert.throws(() => measure("028c015fef"), /^Error: wrong checksum$/);
		assert.throws(() => measure(""), /^Error: no answer: the pin needs a resistor of 4\.7 to 10 kΩ to 3\.3 V$/);
		assert.deepEqual(measure("028c015fee"), air(65.2, 35.1));
		sensor.close();
	});
});

/** The memory of a DS18B20 after power-on, and that of a copy whose byte 6 never changes. */
const POWER_ON = "50054b467fff0c101c";
const POWER_ON_OF_COPY = "50054b467fff001051";

/** Opens the thermometer on a line that the test holds, and reads one second after another. */
async function openThermometer(t: TestContext) {
	t.mock.timers.enable({ apis: ["setInterval"] });
	const DS18B20 = await importDriver("Temperature/DS18B20", sdk);
	const line = { scratchpad: "", isPresent: true, written: [] as number[] };
	class OneWire {
		/** Its own checksum makes CRC-8 of Maxim 0. */
		static readonly crc = (bytes: ArrayBuffer): number => maximCrc(new Uint8Array(bytes, 0, 8));
		readonly reset = () => line.isPresent;
		readonly write = (byte: number) => line.written.push(byte);
		readonly read = () => new Uint8Array(Buffer.from(line.scratchpad, "hex")).buffer;
		readonly close = () => {};
	}
	const sensor = new DS18B20({ sensor: { io: OneWire, pin: 4 } });
	t.after(() => sensor.close());
	const read = (scratchpad: string) => {
		line.scratchpad = scratchpad;
		t.mock.timers.tick(1_000);
		return sensor.sample();
	};
	return { DS18B20, OneWire, sensor, line, read };
}

/** CRC-8 of Maxim's application note 27. */
function maximCrc(bytes: Uint8Array): number {
	let crc = 0;
	for (const byte of bytes) {
		for (let bit = 0; bit < 8; bit += 1) {
			crc = (crc >> 1) ^ ((crc ^ (byte >> bit)) & 1 ? 0x8c : 0);
		}
	}
	return crc;
}

describe("the SDK's drivers of sensors", { skip: noSdk }, () => {
	for (const each of SDK) {
		const { fault } = SENSORS[each[0]] ?? {};
		it(`${each[0]} ${fault ? `still has the fault: ${fault}` : "has the values of the catalog"}`, () => check(each));
	}
	for (const each of ANALOG) {
		it(`${each[0]} reads an analog pin as the catalog says`, () => check(each, Analog));
	}

	it("Humidity-Temperature/HTU21D still fails in each sample, so that builds refuse it", async () => {
		const HTU21D = await importDriver("Humidity-Temperature/HTU21D", sdk);
		const sensor = new HTU21D({ sensor: { io: scriptedBus({ e3: "683a7c", e5: "7c8000" }) } });
		assert.throws(() => sensor.sample(), TypeError);
	});
});

it("each driver of the catalog is run on a scripted bus, or named as one that is not", () => {
	const run = [...OWN, ...SDK, ...ANALOG].map(([name]) => typeOf(name));
	assert.deepEqual(
		Object.keys(SENSORS).map(typeOf).sort(),
		[...new Set([...run, ...NOT_RUN, "DS18B20", "DHT"])].sort(),
	);
});
