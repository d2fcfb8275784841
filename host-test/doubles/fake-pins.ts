import Analog from "../../packages/virtual-device/platform/io/analog.js";
import Digital from "../../packages/virtual-device/platform/io/digital.js";
import {
	connectPins,
	type PinKind,
	type PinLevel,
	type PinView,
	setPin,
} from "../../packages/virtual-device/platform/io/pins.js";
import PulseCount from "../../packages/virtual-device/platform/io/pulsecount.js";
import PWM from "../../packages/virtual-device/platform/io/pwm.js";
import Serial from "../../packages/virtual-device/platform/io/serial.js";
import NeoPixel from "../../packages/virtual-device/platform/neopixel.js";

const CLASSES: Readonly<Record<string, unknown>> = {
	"embedded:io/analog": Analog,
	"embedded:io/digital": Digital,
	"embedded:io/pulsecount": PulseCount,
	"embedded:io/pwm": PWM,
	"embedded:io/serial": Serial,
	neopixel: NeoPixel,
};

export class FakePins implements PinView {
	tried = 0;
	readonly #written = new Map<number, (PinLevel | object)[]>();
	#failure: string | undefined;

	constructor() {
		connectPins(this);
	}

	/** Lets pins fail to open with this message; undefined: they open. */
	fail(message: string | undefined): void {
		this.#failure = message;
	}

	level(pin: number): PinLevel | object | undefined {
		return this.written(pin).at(-1);
	}

	written(pin: number): readonly (PinLevel | object)[] {
		return this.#written.get(pin) ?? [];
	}

	set(pin: number, level: PinLevel): void {
		setPin(pin, level);
	}

	load<Export>(module: string): Export {
		return CLASSES[module] as Export;
	}

	open(pin: number, _kind: PinKind, _part: string | undefined, level: PinLevel): void {
		this.tried += 1;
		if (this.#failure !== undefined) {
			throw new Error(this.#failure);
		}
		this.#written.set(pin, [level]);
	}

	write(pin: number, value: PinLevel | object): void {
		this.#written.set(pin, [...this.written(pin), value]);
	}

	close(): void {}
}
