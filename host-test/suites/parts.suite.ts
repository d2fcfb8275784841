import type { Hardware } from "../../src/hardware/hardware.js";
import { type Button, mainButtonOf } from "../../src/hardware/kinds/button.js";
import type { PartByKind } from "../../src/hardware/kinds/index.js";
import type { SerialLine } from "../../src/hardware/kinds/line.js";
import type { Sensor } from "../../src/hardware/kinds/sensor.js";
import type { Siren } from "../../src/hardware/kinds/siren.js";
import type { Switch } from "../../src/hardware/kinds/switch.js";
import { analog } from "../../src/hardware/parts/analog.js";
import { type ButtonOptions, button } from "../../src/hardware/parts/button.js";
import { contact } from "../../src/hardware/parts/contact.js";
import { counter } from "../../src/hardware/parts/counter.js";
import { addParts, device } from "../../src/hardware/parts/device.js";
import { sensor } from "../../src/hardware/parts/driver-sensor.js";
import { neopixel } from "../../src/hardware/parts/neopixel.js";
import type { Part } from "../../src/hardware/parts/part.js";
import { pwm } from "../../src/hardware/parts/pwm.js";
import { relay } from "../../src/hardware/parts/relay.js";
import { serial } from "../../src/hardware/parts/serial.js";
import { servo } from "../../src/hardware/parts/servo.js";
import { siren } from "../../src/hardware/parts/siren.js";

import { FakePins } from "../doubles/fake-pins.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, suite, throws } from "../harness.js";

function open(part: Part, name = "pump", { pins = new FakePins(), io = undefined as unknown } = {}) {
	const timer = new FakeTimer();
	const log: string[] = [];
	const time = { now: 0 };
	const load = <Export>(module: string): Export => (io as Export) ?? pins.load<Export>(module);
	const rest = { bus: () => ({}), timer, ticks: () => time.now | 0, log: (line: string) => void log.push(line) };
	const opened = part.open({ name, load, ...rest });
	const pass = (milliseconds: number): void => {
		time.now += milliseconds;
		timer.pass(milliseconds);
	};
	return { ...({ [part.makes]: opened } as PartByKind), opened, pins, pass, log, timer };
}

function openSensor(part: Part, name: string) {
	const opened = open(part, name);
	const sensor = opened.sensor as Sensor;
	const told: unknown[] = [];
	sensor.onChange = (value) => void told.push(value);
	return { ...opened, sensor, told };
}

class FakeDriver {
	static next: object | undefined;
	static options: unknown;
	static opened = 0;

	constructor({ sensor: { io: _io, ...options } }: { readonly sensor: { readonly io: unknown } }) {
		FakeDriver.options = options;
		FakeDriver.opened += 1;
	}

	sample(): object | undefined {
		if (FakeDriver.next instanceof Error) {
			throw FakeDriver.next;
		}
		return FakeDriver.next;
	}
}

function openRelay(options: Partial<Parameters<typeof relay>[0]> = {}) {
	const part = open(relay({ pin: 26, ...options }));
	const pump = part.switch as Switch;
	const told: unknown[] = [];
	pump.onChange = (on, cause) => void told.push([on, cause]);
	return { ...part, pump, told };
}

function openSiren(options: Partial<Parameters<typeof siren>[0]> = {}) {
	const part = open(siren({ pin: 25, ...options }), "alarm");
	const alarm = part.siren as Siren;
	const told: unknown[] = [];
	alarm.onChange = (on, cause) => void told.push([on, cause]);
	return { ...part, alarm, told };
}

export default suite("parts as data", {
	"a relay whose input is low-active starts with a high pin: it is never on for a moment"() {
		const { pump, pins } = openRelay({ activeLow: true });
		equal(pins.written(26), [1]);
		pump.turn(true);
		equal(pins.written(26), [1, 0]);
	},
	"a relay with maxOn switches itself off, and says so"() {
		const { pump, told, pass, pins } = openRelay({ maxOn: 30 });
		pump.turn(true);
		pass(29_900);
		equal([pump.on, pump.left], [true, 0.1]);
		pass(100);
		equal([pump.on, pump.left, pins.level(26)], [false, undefined, 0]);
		equal(told, [
			[true, "call"],
			[false, "limit"],
		]);
	},
	"calls while it is on never keep a relay on for longer than maxOn"() {
		const { pump, pass } = openRelay({ maxOn: 30 });
		pump.turn(true);
		pass(20_000);
		pump.turn(true);
		pump.turn(true, 30);
		pass(9_999);
		equal(pump.on, true);
		pass(1);
		equal(pump.on, false);
	},
	"a relay stays on for the seconds of the call, and no longer than its limit allows"() {
		const { pump, pass } = openRelay({ maxOn: 30 });
		throws(() => pump.turn(true, 31), /^seconds: pump stays on for at most 30 seconds, not 31$/);
		equal(pump.on, false);
		pump.turn(true, 5);
		equal([pump.left, pump.maxOn], [5, 30]);
		pass(5_000);
		equal(pump.on, false);
	},
	"a relay that is toggled too fast stays off, and the error says when to try again; off is never refused"() {
		const { pump, pass, pins } = openRelay();
		pump.turn(true);
		pass(200);
		pump.turn(false);
		throws(() => pump.turn(true), /^pump: switched on too often; try again in 0\.8 seconds$/);
		for (let call = 0; call < 1_000; call += 1) {
			pump.turn(false);
			throws(() => pump.turn(true), /too often/);
		}
		equal(pins.level(26), 0);
		pass(800);
		pump.turn(true);
		equal(pump.on, true);
	},
	"a relay is toggled within its limits"() {
		const { pump, pass } = openRelay({ maxOn: 30 });
		pump.toggle();
		equal([pump.on, pump.left], [true, 30]);
		pump.toggle();
		equal(pump.on, false);
		throws(() => pump.toggle(), /too often/);
		pass(1_000);
		pump.toggle();
		equal(pump.on, true);
	},
	"a compressor rests for minOff"() {
		const { pump, pass } = openRelay({ minOff: 120 });
		pump.turn(true);
		pass(10_000);
		pump.turn(false);
		pass(60_000);
		throws(() => pump.turn(true), /try again in 60 seconds/);
		pass(60_000);
		pump.turn(true);
	},
	"a relay is switched off when the session is lost, if it is to be"() {
		const { pump, opened, told } = openRelay({ onSessionLost: "off" });
		pump.turn(true);
		opened.sessionEnded?.();
		equal(pump.on, false);
		equal(told.at(-1), [false, "session"]);
		const kept = openRelay();
		kept.pump.turn(true);
		kept.opened.sessionEnded?.();
		equal(kept.pump.on, true);
	},
	"a siren sounds and rests by turns until its time is over, and says so"() {
		const { alarm, pins, pass, told } = openSiren({ maxOn: 10, pattern: { on: 2, off: 1 } });
		alarm.turn(true, 4);
		equal([alarm.on, alarm.left, pins.level(25)], [true, 4, 1]);
		pass(2_000);
		equal([alarm.on, alarm.left, pins.level(25)], [true, 2, 0]);
		pass(1_000);
		equal(pins.level(25), 1);
		pass(1_000);
		equal([alarm.on, alarm.left, pins.level(25)], [false, undefined, 0]);
		pass(10_000);
		equal(
			[pins.written(25), told],
			[
				[0, 1, 0, 1, 0],
				[
					[true, "call"],
					[false, "limit"],
				],
			],
		);
	},
	"a call while a siren sounds changes its pattern, and never extends maxOn"() {
		const { alarm, pins, pass, told } = openSiren({ maxOn: 10 });
		alarm.turn(true);
		pass(8_000);
		alarm.turn(true, 10, { on: 0.5, off: 0.5 });
		equal([alarm.left, told.length], [2, 1]);
		pass(500);
		equal([alarm.on, pins.level(25)], [true, 0]);
		pass(1_500);
		equal([alarm.on, pins.level(25)], [false, 0]);
		throws(() => alarm.turn(true, 11), /^seconds: alarm stays on for at most 10 seconds, not 11$/);
		equal(alarm.on, false);
	},
	"a siren stops at once when it is called or closed, whatever its pattern"() {
		const { alarm, pins, pass, opened, told } = openSiren({ activeLow: true, pattern: { on: 1, off: 1 } });
		equal([pins.level(25), alarm.maxOn], [1, 60]);
		alarm.turn(true);
		alarm.turn(false);
		alarm.turn(false);
		pass(5_000);
		equal(
			[pins.written(25), told],
			[
				[1, 0, 1, 1],
				[
					[true, "call"],
					[false, "call"],
				],
			],
		);
		alarm.turn(true);
		opened.close();
		pass(5_000);
		equal(pins.written(25).at(-1), 1);
	},
	"a siren refuses a pattern that it cannot keep"() {
		const fault = (on: number, off: number): string | undefined => siren({ pin: 25, pattern: { on, off } }).fault;
		equal(fault(0.5, 0), undefined);
		equal(fault(0, 1), "pattern.on: expected a number from 0.1 to 60 seconds, got 0");
		equal(fault(1, 61), "pattern.off: expected a number from 0 to 60 seconds, got 61");
	},
	"a part whose pin cannot be opened says why, and is tried again with growing pauses"() {
		const pins = new FakePins();
		pins.fail("in use");
		const tried = (): number => pins.tried;
		const { timer, ...part } = open(relay({ pin: 26 }), "pump", { pins });
		const pump = part.switch as Switch;
		equal([pump.on, pump.error], [false, "in use"]);
		throws(() => pump.turn(true), /^pump: in use$/);
		pump.turn(false);
		timer.pass(1_000);
		timer.pass(2_000);
		equal(tried(), 3);
		pins.fail(undefined);
		timer.pass(4_000);
		equal(pump.error, undefined);
		pump.turn(true);
		equal(pins.level(26), 1);
	},
	"an analog sensor measures between the two ends of its calibration, which may descend"() {
		const part = open(analog({ pin: 34, kind: "moisture", unit: "%", from: [2900, 1200], to: [0, 100] }), "soil");
		const soil = part.sensor as Sensor;
		const readings = [3_500, 2_900, 2_050, 1_200, 0].map((raw) => {
			part.pins.set(34, raw);
			return soil.read();
		});
		equal(readings, [0, 0, 50, 100, 100]);
		equal([soil.kind, soil.unit], ["moisture", "%"]);
	},
	"a sensor tells of a change as large as its threshold, and not of noise; of each change if that is 0"() {
		for (const [part, pin, values, expected] of [
			[analog({ pin: 34, from: [0, 1_000], threshold: 5 }), 34, [500, 540, 460, 555, 520, 505], [55.5, 50.5]],
			[counter({ pin: 27, threshold: 0 }), 27, [0, 0, 3, 3, 4], [3, 4]],
		] as const) {
			const { pins, pass, told } = openSensor(part, "meter");
			for (const value of values) {
				pins.set(pin, value);
				pass(1_000);
			}
			equal(told, expected);
		}
	},
	"a contact is true while its pin is high, and tells when it has lasted"() {
		const { sensor: door, pins, pass, told } = openSensor(contact({ pin: 4, pull: "up" }), "door");
		equal([door.kind, door.read()], ["opening", true]);
		pins.set(4, 0);
		pass(10);
		pins.set(4, 1);
		pass(100);
		equal(told, []);
		pins.set(4, 0);
		pass(30);
		equal([told, door.read()], [[false], false]);
	},
	"a PWM light keeps within its limits"() {
		const part = open(pwm({ pin: 2, min: 20, max: 60 }), "lamp");
		const lamp = part.light as { on: boolean; brightness: number };
		lamp.on = true;
		lamp.brightness = 0;
		lamp.brightness = 50;
		lamp.on = false;
		equal(part.pins.written(2), [0, 0, 60, 20, 40, 0]);
	},
	"a servo moves within its range"() {
		const part = open(servo({ pin: 13, max: 120 }), "arm");
		const arm = part.servo as { move(angle: number): void; angle: number | undefined };
		throws(() => arm.move(121), /^angle: arm moves from 0 to 120 degrees, not to 121$/);
		equal(part.pins.written(13), [0]);
		arm.move(60);
		equal([arm.angle, part.pins.level(13)], [60, 1_500]);
	},
	"a sensor's driver is opened on its bus, and its samples become values with kinds and units"() {
		const { sensor: air } = openSensor(sensor(FakeDriver, { bus: { data: 21, clock: 22 }, address: 0x45 }), "air");
		FakeDriver.next = { thermometer: { temperature: 21.456 }, hygrometer: { humidity: 40 }, CO2: 700, ok: true };
		equal(air.read(), { temperature: 21.46, humidity: 40, co2: 700, ok: true });
		equal([air.kind, air.unit], ["combined", { temperature: "°C", humidity: "%", co2: "ppm" }]);
		equal(FakeDriver.options, { data: 21, clock: 22, part: "air", address: 0x45 });
		FakeDriver.next = { barometer: { pressure: 101_325 } };
		equal([air.read(), air.kind, air.unit], [101_325, "pressure", "Pa"]);
		FakeDriver.next = { accelerometer: { x: 0, y: 1, z: 9.806 } };
		equal([air.read(), air.kind, air.unit], [{ x: 0, y: 1, z: 9.81 }, "acceleration", "m/s²"]);
		FakeDriver.next = { moisture: 0.42 };
		equal([air.read(), air.kind, air.unit], [42, "moisture", "%"]);
		const celsius = { temperature: "°C", outside_temperature: "°C" };
		FakeDriver.next = { inside: { temperature: 20 }, outside: { temperature: 5 } };
		equal([air.read(), air.unit], [{ temperature: 20, outside_temperature: 5 }, celsius]);
		FakeDriver.next = { voltage_0: 1.5, voltage_1: 2, pixels: new Float32Array(64) };
		equal(
			[air.read(), air.unit],
			[
				{ voltage_0: 1.5, voltage_1: 2 },
				{ voltage_0: "V", voltage_1: "V" },
			],
		);
		const { sensor: room } = openSensor(sensor(FakeDriver, { bus: "default", scale: { humidity: 100 } }), "room");
		FakeDriver.next = { hygrometer: { humidity: 0.45 } };
		equal(room.read(), 45);
	},
	"small currents and voltages are not rounded away"() {
		const { sensor: meter } = openSensor(sensor(FakeDriver, { bus: "default" }), "meter");
		FakeDriver.next = { current: 0.00412, voltage: 3.30012, power: 0.0136 };
		equal(meter.read(), { current: 0.0041, voltage: 3.3001, power: 0.0136 });
		FakeDriver.next = { voltage_0: 0.003, voltage_1: 0 };
		equal(meter.read(), { voltage_0: 0.003, voltage_1: 0 });
	},
	"a counter shows each pulse of a meter that gives 1,000 for a unit"() {
		const { sensor: meter, pins } = openSensor(counter({ pin: 27, kind: "energy", each: 0.001 }), "meter");
		pins.set(27, 3);
		equal(meter.read(), 0.003);
	},
	"a sensor tells when one of its values has changed as much as its kind is worth"() {
		const { pass, told } = openSensor(sensor(FakeDriver, { bus: "default" }), "air");
		for (const [temperature, humidity] of [
			[20, 40],
			[20.4, 41],
			[20.4, 42],
			[20.8, 42],
		]) {
			FakeDriver.next = { thermometer: { temperature }, hygrometer: { humidity } };
			pass(1_000);
		}
		equal(told, [{ temperature: 20.4, humidity: 42 }]);
	},
	"a sensor that throws at each sample is opened anew, and the device goes on"() {
		FakeDriver.next = { thermometer: { temperature: 20 } };
		const { sensor: air, pass, log } = openSensor(sensor(FakeDriver, { bus: "default" }), "air");
		FakeDriver.opened = 0;
		FakeDriver.next = new Error("bad checksum");
		for (let second = 0; second < 3; second += 1) {
			pass(1_000);
		}
		equal(log, ["air: bad checksum; tried again"]);
		throws(() => air.read(), /^air: bad checksum$/);
		FakeDriver.next = { thermometer: { temperature: 22 } };
		pass(1_000);
		equal([FakeDriver.opened, air.read()], [1, 22]);
	},
	"a sensor that was opened anew has no old value"() {
		FakeDriver.next = { thermometer: { temperature: 20 } };
		const { sensor: air, pass } = openSensor(sensor(FakeDriver, { bus: "default" }), "air");
		pass(1_000);
		FakeDriver.next = undefined;
		equal(air.read(), 20);
		FakeDriver.next = new Error("stopped");
		pass(4_000);
		FakeDriver.next = undefined;
		throws(() => air.read(), /no reading yet/);
	},
	"a counter counts what a pulse is worth"() {
		const { sensor: meter, pins } = openSensor(counter({ pin: 27, kind: "water", unit: "L", each: 0.5 }), "meter");
		pins.set(27, 7);
		equal([meter.read(), meter.kind, meter.unit], [3.5, "water", "L"]);
	},
	"a line that arrives at a serial port is told and kept; of lines that come fast, the last one"() {
		const part = open(serial({ rx: 16, tx: 17 }), "scale");
		const told: unknown[] = [];
		const scale = part.line as SerialLine;
		scale.onLine = (text) => void told.push(text);
		equal([scale.last, scale.error], [undefined, undefined]);
		for (const line of ["12.5 kg", "12.6 kg", "ünï\u0007", "", "x".repeat(300)]) {
			part.pins.set(16, line);
		}
		equal([told, scale.last], [["12.5 kg"], "x".repeat(256)]);
		part.pass(1_000);
		equal(told, ["12.5 kg", "x".repeat(256)]);
		part.pass(5_000);
		part.pins.set(16, "ünï\u0007");
		equal(told.length === 3 && scale.last, "ünï");
	},
	"a line is sent with its end; one that is too long, has control characters or comes too soon is rejected"() {
		const part = open(serial({ rx: 16, tx: 17, end: "\n" }), "scale");
		const scale = part.line as SerialLine;
		throws(() => scale.send("x".repeat(120)), /^text: expected at most 119 bytes, got 120$/);
		throws(() => scale.send("tare\nreset"), /^text: expected one line, without control characters$/);
		scale.send("tare");
		throws(() => scale.send("tare"), /^scale: sent too often; try again in 0\.1 seconds$/);
		part.pass(100);
		scale.send("");
		equal(part.pins.written(17), ["", "tare", ""]);
		throws(() => (open(serial({ rx: 16 }), "gps").line as SerialLine).send("x"), /^gps only receives$/);
	},
	"a line for a port that is still busy is refused in words that help"() {
		class Busy {
			write(): void {
				throw new Error("output full");
			}
		}
		const { line } = open(serial({ tx: 17, baud: 300 }), "scale", { io: Busy });
		throws(() => line?.send("tare"), /^scale: the line before is still being sent: output full$/);
	},
	"bytes that are no UTF-8 are question marks"() {
		let deliver: (bytes: readonly number[]) => void = () => {};
		class Port {
			constructor({ onReadable }: { readonly onReadable: (count: number) => void }) {
				deliver = (bytes) => {
					this.#bytes = Uint8Array.from(bytes);
					onReadable(bytes.length);
				};
			}
			#bytes = new Uint8Array(0);
			read(): ArrayBuffer {
				return this.#bytes.buffer;
			}
		}
		const { line } = open(serial({ rx: 16 }), "gps", { io: Port });
		deliver([0x41, 0xff, 0x42, 13, 10]);
		equal(line?.last, "A?B");
	},
	"a button of a maker is the assistant's only where the part says so"() {
		const opened = (options: ButtonOptions) => open(button(options), "bell").button as Button;
		const bell = opened({ pin: 0 });
		equal(mainButtonOf({ bell }), undefined);
		equal(mainButtonOf({ bell, talk: opened({ pin: 2, assistant: true }) }), "talk");
		equal(mainButtonOf({ boot: { onPress: undefined }, bell }), "boot");
	},
	"a button is pressed, and a strip shows its colour"() {
		const part = open(button({ pin: 0 }), "bell");
		const presses: unknown[] = [];
		const bell = part.button as { onPress: unknown };
		bell.onPress = ({ long }: { long: boolean }) => presses.push(long);
		part.pins.set(0, 0);
		part.pass(100);
		part.pins.set(0, 1);
		part.pass(100);
		equal(presses, [false]);
		const strip = open(neopixel({ pin: 8, length: 30 }), "strip");
		Object.assign(strip.light ?? {}, { on: true, brightness: 40, color: 0xff8000 });
		equal(strip.pins.level(8), { colors: new Array(30).fill(0xff8000), length: 30, brightness: 40 });
	},
	"a name that the board has already is an error, and parts stand beside those of the board"() {
		const pins = new FakePins();
		const load = <Export>(module: string): Export => pins.load<Export>(module);
		const io = { load, bus: () => ({}), timer: new FakeTimer(), ticks: () => 0, log() {} };
		const board = { name: "board", lights: { led: { on: false } } };
		throws(
			() => addParts(board, device({ parts: { led: pwm({ pin: 2 }) } }), io),
			/^part led: the board has lights of this name: choose another name$/,
		);
		const parts = { lamp: pwm({ pin: 2 }), constructor: relay({ pin: 26 }) };
		const follower = addParts(board, device({ parts }), io);
		const { lights, switches, sensors } = board as Hardware;
		equal(
			[Object.keys(lights ?? {}), Object.keys(switches ?? {}), sensors],
			[["led", "lamp"], ["constructor"], undefined],
		);
		Object.values(switches ?? {})[0]?.turn(true);
		follower.onClose?.();
		equal(pins.level(26), 0);
	},
	"what is wrong with a part is said with its name"() {
		device({ parts: { pump: relay({ pin: 26, maxOn: 30 }) } });
		for (const [parts, problem] of [
			[
				{ soil: analog({ pin: 34, from: [1200, 1200] }) },
				/^part soil: from: expected two different numbers, got 1200 twice$/,
			],
			[
				{ pump: relay({ pin: 26, maxOn: -1 }) },
				/^part pump: maxOn: expected a number from 0\.1 to 86400 seconds, got -1$/,
			],
			[{ gps: serial({}) }, /^part gps: rx: expected a pin that receives, or tx, one that sends$/],
			[{ gps: serial({ rx: 16, port: 7 }) }, /^part gps: port: expected 0, 1 or 2, got 7$/],
			[{ pump: relay({ pin: -1 }) }, /^part pump: pin: expected the number of a pin, got -1$/],
			[{ lamp: pwm({ pin: 2, min: 80, max: 20 }) }, /^part lamp: max: expected more than min, 80, got 20$/],
			[
				{ door: contact({ pin: 4, pull: "sideways" as never }) },
				/^part door: pull: expected "up" or "down", got "sideways"$/,
			],
			[{ "water pump": relay({ pin: 26 }) }, /^part "water pump": expected a name of 1 to 32 letters/],
			[{ pump: { pin: 26 } }, /^part pump: expected what relay/],
			[{ air: sensor(class Empty {} as never, { bus: "default" }) }, /^part air: the driver has no sample\(\)$/],
			[{ air: sensor(FakeDriver) }, /^part air: bus: expected "default"/],
			[
				{ air: sensor(FakeDriver, { bus: "default", scale: { humidity: Number.NaN } }) },
				/^part air: scale\.humidity: expected a number from /,
			],
			[{ air: sensor(undefined as never, { bus: "default" }) }, /^part air: the driver: expected a class/],
			[[], /^parts: expected an object/],
		] as const) {
			throws(() => device({ parts: parts as never }), problem);
		}
	},
	"an option that a part does not have is an error that names it, and those that there are"() {
		const more = { pin: 26, inverted: true } as never;
		for (const part of [
			analog(more),
			button(more),
			contact(more),
			counter(more),
			neopixel(more),
			pwm(more),
			relay(more),
			sensor(FakeDriver, more),
			serial({ rx: 26, inverted: true } as never),
			servo(more),
		]) {
			throws(() => device({ parts: { it: part } }), /^part it: unknown option inverted, expected \w+(, \w+)+$/);
		}
	},
});
