import Axp2101 from "../../src/hardware/drivers/axp2101.js";
import { DigitalButton } from "../../src/hardware/drivers/button-digital.js";
import { TouchButton } from "../../src/hardware/drivers/button-touch.js";
import { imageCamera } from "../../src/hardware/drivers/image-camera.js";
import { neoPixelLight } from "../../src/hardware/drivers/light-neopixel.js";
import { openPwmLight } from "../../src/hardware/drivers/light-pwm.js";
import { lightSensor } from "../../src/hardware/drivers/open-light.js";
import { motionSensor } from "../../src/hardware/drivers/open-motion.js";
import { powerBattery } from "../../src/hardware/drivers/open-power.js";
import { followRtc } from "../../src/hardware/drivers/open-rtc.js";
import { registerSpeaker } from "../../src/hardware/drivers/register-speaker.js";
import type { Board } from "../../src/hardware/hardware.js";
import { analog } from "../../src/hardware/parts/analog.js";
import { contact } from "../../src/hardware/parts/contact.js";
import { counter } from "../../src/hardware/parts/counter.js";
import { addParts } from "../../src/hardware/parts/device.js";
import { relay } from "../../src/hardware/parts/relay.js";
import { serial } from "../../src/hardware/parts/serial.js";
import { servo } from "../../src/hardware/parts/servo.js";
import { FaceScreen } from "../../src/screen/face-screen.js";
import { SoundPlayer } from "../../src/sound/sound-player.js";
import { FakeAudioOut } from "./fake-audio-out.js";
import { FakeBoard } from "./fake-board.js";
import { fakeBus } from "./fake-bus.js";
import { FakeCanvas } from "./fake-canvas.js";
import { FakePins } from "./fake-pins.js";
import { callBack, type FakeTimer } from "./fake-timer.js";

/** Hardware that stops answering: while it is down, whatever is read, written or called throws as the SDK's I2C does. */
export class FailingBus {
	isDown = false;
	failures = 0;
	readonly #callbacks: (() => void)[] = [];

	wrap<Device extends object>(device: Device): Device {
		return new Proxy(device, {
			get: (target, name) => {
				this.access();
				const value = Reflect.get(target, name);
				return typeof value === "function" ? value.bind(target) : value;
			},
			set: (target, name, value) => {
				this.access();
				return Reflect.set(target, name, value);
			},
		});
	}

	wrapClass<Class extends new (options: never) => object>(io: Class): Class {
		return new Proxy(io, {
			construct: (target, [options]) => {
				this.access();
				for (const name of ["onReadable", "onSample", "onWritable"]) {
					const callback = options?.[name];
					if (callback !== undefined) {
						this.#callbacks.push(() => callback.call(undefined, 2));
					}
				}
				return this.wrap(new target(options as never));
			},
		});
	}

	interrupt(): void {
		for (const callback of this.#callbacks) {
			callBack(callback);
		}
	}

	access(): void {
		if (this.isDown) {
			this.failures += 1;
			throw new Error("writeRead failed");
		}
	}
}

const FRAME = Object.assign(new ArrayBuffer(4), { close: () => {} });

class Untouched {
	sample(): undefined {
		return undefined;
	}
	close(): void {}
}

class Images {
	readonly width = 2;
	readonly height = 2;
	start(): void {}
	read(): typeof FRAME {
		return FRAME;
	}
}

const PIXELS = { brightness: 0, makeRGB: () => 0, fill: () => {}, update: () => {}, close: () => {} };

export function boardOnBus(bus: FailingBus, timer: FakeTimer) {
	const log: string[] = [];
	const ticks = (): number => timer.now;
	const pins = new FakePins();
	const load = <Export>(module: string): Export => bus.wrapClass(pins.load(module) as never) as Export;
	const power = powerBattery(bus.wrap(new Axp2101({ sensor: fakeBus().bus, address: 0x34 })));
	const audioOut = bus.wrapClass(FakeAudioOut);
	const time = { timer, ticks };
	const Touch = bus.wrapClass(Untouched);
	const setTime = followRtc(bus.wrap({ time: undefined }), {
		setTime: () => {},
		now: () => 0,
		log: (line) => log.push(line),
	});
	const canvas = new FakeCanvas();
	const screen = new FaceScreen({ canvas, font: { height: 20 }, timer, backlight: power });
	const board = Object.assign(new FakeBoard(), {
		screen,
		speaker: registerSpeaker(() => bus.access(), 1, 256),
		player: new SoundPlayer(audioOut, timer, 70),
		battery: power,
		network: {
			type: "wifi" as const,
			ssid: "home",
			online: true,
			onChange: undefined as (() => void) | undefined,
			get rssi(): number {
				bus.access();
				return -60;
			},
		},
		thermometer: bus.wrap({ temperature: 40 }),
		camera: imageCamera({ io: bus.wrapClass(Images) as never, width: 2, height: 2, timer }),
		clock: { set: (milliseconds: number) => setTime(milliseconds / 1000) },
		lights: {
			pixels: neoPixelLight(bus.wrap({ ...PIXELS })),
			led: openPwmLight({ io: load("embedded:io/pwm"), pin: 2 }),
		},
		sensors: {
			motion: motionSensor(bus.wrap({ sample: () => ({ accelerometer: { x: 0, y: 0, z: 9 } }) }), timer),
			light: lightSensor(bus.wrap({ sample: () => ({}) }), timer),
		},
		buttons: {
			touch: new TouchButton({ ...time, open: (onSample) => Reflect.construct(Touch, [{ onSample }]) }),
			boot: new DigitalButton({ ...time, io: load("embedded:io/digital"), pin: 0 }),
		},
	});
	const parts = {
		pump: relay({ pin: 26, maxOn: 30, onSessionLost: "off" }),
		soil: analog({ pin: 34 }),
		water: counter({ pin: 27 }),
		door: contact({ pin: 4, pull: "up" }),
		arm: servo({ pin: 13 }),
		meter: serial({ tx: 17, rx: 16, baud: 9_600 }),
	};
	const io419 = { load, bus: () => ({}), ...time, log: (line: string) => log.push(line) };
	const follower = addParts(board, { parts }, io419);
	return { board: board as typeof board & Pick<Board, "switches">, follower, pins, log, ticks, canvas };
}
