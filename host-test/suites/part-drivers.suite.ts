import { neoPixelLight } from "../../src/hardware/drivers/light-neopixel.js";
import { openPwmLight } from "../../src/hardware/drivers/light-pwm.js";
import { lightSensor } from "../../src/hardware/drivers/open-light.js";
import { type MotionSample, motionSensor } from "../../src/hardware/drivers/open-motion.js";
import { followRtc } from "../../src/hardware/drivers/open-rtc.js";
import type { Reading } from "../../src/hardware/kinds/sensor.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, given, matches, suite, throws } from "../harness.js";

const SENSOR_INTERVAL = 1_000;

class FakePixels {
	brightness = 64;
	shown: readonly [color: number, brightness: number] | undefined;
	closed = false;
	#color = 0;

	makeRGB(red: number, green: number, blue: number): number {
		return (green << 16) | (red << 8) | blue;
	}

	fill(color: number): void {
		this.#color = color;
	}

	update(): void {
		this.shown = [this.#color, this.brightness];
	}

	close(): void {
		this.closed = true;
	}
}

function pwm(resolution: number) {
	const written: number[] = [];
	class FakePwm {
		readonly resolution = resolution;
		write(value: number): void {
			written.push(value);
		}
		close(): void {
			written.push(-1);
		}
	}
	return { io: FakePwm, written };
}

function source<Sample>(first?: Sample) {
	const state = { next: first as Sample | undefined | Error, closed: false };
	return {
		state,
		sample(): Sample | undefined {
			if (state.next instanceof Error) {
				throw state.next;
			}
			return state.next;
		},
		close(): void {
			state.closed = true;
		},
	};
}

const TIME = Date.UTC(2026, 10, 21);

function rtcClock(machine: { now: number }, rtc: { time: number | undefined }) {
	const log: string[] = [];
	const set = followRtc(rtc, {
		setTime: (seconds) => {
			machine.now = seconds * 1000;
		},
		now: () => machine.now,
		log: (line) => log.push(line),
	});
	return { set, log };
}

const makeTimer = () => new FakeTimer();

export default suite("drivers of lights, sensors and the real-time clock", {
	"NeoPixel: is off at first, and shows its colour only while it is on"() {
		const pixels = new FakePixels();
		const light = neoPixelLight(pixels);
		equal(pixels.shown, [0, 128]);
		light.color = 0x102030;
		light.brightness = 100;
		equal(pixels.shown, [0, 255]);
		light.on = true;
		equal(pixels.shown, [0x201030, 255]);
		light.brightness = 20;
		equal([pixels.shown, light.on, light.brightness, light.color], [[0x201030, 51], true, 20, 0x102030]);
		light.on = false;
		equal(pixels.shown?.[0], 0);
		light.close();
		equal(pixels.closed, true);
	},
	"PWM: dims an LED in the steps that the pin has"() {
		const { io, written } = pwm(10);
		const light = openPwmLight({ io, pin: 10 });
		light.on = true;
		light.brightness = 50;
		light.on = false;
		light.close();
		equal(written, [0, 1023, 512, 0, -1]);
	},
	"PWM: is dark while the pin is high, if the LED wants that"() {
		const { io, written } = pwm(8);
		const light = openPwmLight({ io, pin: 10, activeLow: true });
		light.on = true;
		light.brightness = 20;
		equal([written, light.brightness, light.on], [[255, 0, 204], 20, true]);
	},
	"motion: measures acceleration, in the unit that the driver has": given(makeTimer, (timer) => {
		const accelerometer = { x: 0, y: 0.1234, z: 1 };
		const sensor = motionSensor(source({ accelerometer }), timer, 9.80665);
		equal([sensor.kind, sensor.unit, sensor.read()], ["motion", "m/s²", { x: 0, y: 1.21, z: 9.81 }]);
		equal(motionSensor(source({ accelerometer }), timer).read(), { x: 0, y: 0.12, z: 1 });
	}),
	"motion: tells that the device was moved, and not that it lies still": given(makeTimer, (timer) => {
		const chip = source<MotionSample>({ accelerometer: { x: 0, y: 0, z: 9.8 } });
		const sensor = motionSensor(chip, timer);
		const told: Reading[] = [];
		sensor.onChange = (reading) => told.push(reading);
		timer.pass(SENSOR_INTERVAL);
		chip.state.next = { accelerometer: { x: 1, y: 1, z: 9 } };
		timer.pass(SENSOR_INTERVAL);
		equal(told, []);
		chip.state.next = { accelerometer: { x: 9.8, y: 0, z: 0 } };
		timer.pass(5 * SENSOR_INTERVAL);
		equal(told, [{ x: 9.8, y: 0, z: 0 }]);
	}),
	"a sensor that has nothing new tells what it measured last": given(makeTimer, (timer) => {
		const chip = source<MotionSample>({});
		const sensor = motionSensor(chip, timer);
		throws(() => sensor.read(), /has no reading yet/);
		chip.state.next = { accelerometer: { x: 1, y: 2, z: 3 } };
		sensor.read();
		chip.state.next = {};
		equal(sensor.read(), { x: 1, y: 2, z: 3 });
		chip.state.next = undefined;
		equal(sensor.read(), { x: 1, y: 2, z: 3 });
	}),
	"a sensor that does not answer fails when it is read, and is looked at again": given(makeTimer, (timer) => {
		const chip = source({ lightmeter: { illuminance: 100 } });
		const sensor = lightSensor(chip, timer);
		const told: Reading[] = [];
		sensor.onChange = (reading) => told.push(reading);
		timer.pass(SENSOR_INTERVAL);
		chip.state.next = new Error("no answer");
		timer.pass(SENSOR_INTERVAL);
		throws(() => sensor.read(), /no answer/);
		chip.state.next = { lightmeter: { illuminance: 200 } };
		timer.pass(SENSOR_INTERVAL);
		equal(told, [200]);
		sensor.close();
		equal([chip.state.closed, timer.size], [true, 0]);
	}),
	"light: tells when it became twice or half as bright, but not what happens in the dark"() {
		const timer = new FakeTimer();
		const chip = source({ lightmeter: { illuminance: 100 } });
		const sensor = lightSensor(chip, timer);
		equal([sensor.kind, sensor.unit, sensor.read()], ["light", "counts", 100]);
		const told: Reading[] = [];
		sensor.onChange = (reading) => told.push(reading);
		for (const illuminance of [100, 199, 200, 101, 100, 5, 1, 15, 20]) {
			chip.state.next = { lightmeter: { illuminance } };
			timer.pass(SENSOR_INTERVAL);
		}
		equal(told, [200, 100, 5, 20]);
	},
	"real-time clock: sets the machine's clock before any time server has answered"() {
		const machine = { now: 0 };
		const { log } = rtcClock(machine, { time: TIME });
		equal(machine.now, TIME);
		matches(log[0] ?? "", /2026-11-21T00:00:00.* real-time clock/);
	},
	"real-time clock: leaves alone a machine that knows the time, or if the chip does not"() {
		const machine = { now: TIME + 5_000 };
		rtcClock(machine, { time: TIME });
		equal(machine.now, TIME + 5_000);
		for (const time of [undefined, Number.NaN, 0, Date.UTC(2024, 11, 31)]) {
			const other = { now: 0 };
			rtcClock(other, { time });
			equal(other.now, 0);
		}
	},
	"real-time clock: is set with the machine's clock"() {
		const rtc = { time: undefined as number | undefined };
		const machine = { now: 0 };
		rtcClock(machine, rtc).set(TIME / 1000);
		equal([rtc.time, machine.now], [TIME, TIME]);
	},
	"real-time clock: does not keep the machine's clock from being set if it does not answer"() {
		const rtc = {
			get time(): number | undefined {
				return undefined;
			},
			set time(_time: number | undefined) {
				throw new Error("no answer");
			},
		};
		const machine = { now: 0 };
		const { set, log } = rtcClock(machine, rtc);
		set(TIME / 1000);
		equal([machine.now, log.length], [TIME, 1]);
		matches(log[0] ?? "", /real-time clock was not set: Error: no answer/);
	},
});
