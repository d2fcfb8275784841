import { TimedButton } from "../../src/hardware/drivers/button.js";
import { DigitalButton } from "../../src/hardware/drivers/button-digital.js";
import { TouchButton } from "../../src/hardware/drivers/button-touch.js";
import type { Press } from "../../src/hardware/kinds/button.js";
import { callBack, FakeTimer, installGuard } from "../doubles/fake-timer.js";
import { equal, given, suite } from "../harness.js";

const DEBOUNCE = 30;
const LONG_PRESS = 2_000;

/** A clock that soon wraps around. */
const ticksOf = (timer: FakeTimer) => (): number => (timer.now - 50) | 0;

function timed() {
	const timer = new FakeTimer();
	const button = new TimedButton({ timer, ticks: ticksOf(timer) });
	return { timer, button, presses: record(button) };
}

function record(button: TimedButton): Press[] {
	const presses: Press[] = [];
	button.onPress = (press) => presses.push(press);
	return presses;
}

class FakePin {
	static readonly Input = 1;
	static readonly InputPullUp = 2;
	static readonly Rising = 1;
	static readonly Falling = 2;
	static options: { pin: number; mode: number; edge: number; onReadable: () => void } | undefined;
	static level = 1;
	static closed = false;

	constructor(options: object) {
		FakePin.options = options as typeof FakePin.options;
		FakePin.closed = false;
	}

	static become(level: number): void {
		FakePin.level = level;
		FakePin.options?.onReadable();
	}

	read(): number {
		return FakePin.level;
	}

	close(): void {
		FakePin.closed = true;
	}
}

/** A touch screen, and its next touch; undefined: nothing new, an error: it cannot be read. */
function touchScreen(interrupt: boolean) {
	const state = { tell: (): void => {}, fingers: undefined as object[] | Error | undefined };
	class FakeTouch {
		readonly configuration = { interrupt };

		constructor(options: { onSample: () => void }) {
			state.tell = options.onSample;
		}

		sample(): object[] | undefined {
			if (state.fingers instanceof Error) {
				throw state.fingers;
			}
			return state.fingers;
		}
	}
	const timer = new FakeTimer();
	const button = new TouchButton({ timer, ticks: ticksOf(timer), open: (onSample) => new FakeTouch({ onSample }) });
	const touch = (...samples: (typeof state.fingers)[]): void => {
		for (const sample of samples) {
			state.fingers = sample;
			if (interrupt) {
				callBack(state.tell);
			}
			timer.pass(200);
		}
	};
	return { state, timer, button, touch, presses: record(button) };
}

export default suite("buttons", {
	"tell a press when it ends, and how long it was": given(timed, ({ timer, button, presses }) => {
		button.follow(true);
		timer.pass(DEBOUNCE + 120);
		equal(presses, []);
		button.follow(false);
		timer.pass(DEBOUNCE);
		equal(presses, [{ long: false, milliseconds: 150 }]);
	}),
	"tell a long press once, while the button is held down, and its duration at its end"() {
		const { timer, button, presses } = timed();
		const releases: number[] = [];
		button.onRelease = (milliseconds) => releases.push(milliseconds);
		button.follow(true);
		timer.pass(DEBOUNCE + LONG_PRESS);
		equal(presses, [{ long: true, milliseconds: LONG_PRESS }]);
		button.follow(false);
		timer.pass(DEBOUNCE);
		equal([presses.length, releases, timer.size], [1, [DEBOUNCE + LONG_PRESS], 0]);
	},
	"ignore a contact that bounces": given(timed, ({ timer, button, presses }) => {
		for (const isDown of [true, false, true, false, true]) {
			button.follow(isDown);
			timer.pass(DEBOUNCE - 1);
		}
		timer.pass(100);
		for (const isDown of [false, true, false]) {
			button.follow(isDown);
			timer.pass(DEBOUNCE - 1);
		}
		timer.pass(100);
		equal(presses.length, 1);
		button.follow(true);
		button.follow(false);
		timer.pass(LONG_PRESS);
		equal(presses.length, 1);
	}),
	"tell a press whose contact opens just before it would be long as a short one, unless the contact bounces"() {
		for (const bounces of [false, true]) {
			const { timer, button, presses } = timed();
			button.follow(true);
			timer.pass(DEBOUNCE + LONG_PRESS - 1);
			button.follow(false);
			timer.pass(2);
			button.follow(bounces);
			timer.pass(DEBOUNCE);
			equal([presses.length, presses[0]?.long], [1, bounces]);
		}
	},
	"tell nothing more after they were closed": given(timed, ({ timer, button, presses }) => {
		button.follow(true);
		timer.pass(DEBOUNCE);
		button.close();
		timer.pass(LONG_PRESS);
		equal([presses, timer.size], [[], 0]);
	}),
	"on a pin: are down while it is low, which a resistor pulls up, or while it is high"() {
		for (const [activeHigh, mode] of [
			[false, FakePin.InputPullUp],
			[true, FakePin.Input],
		] as const) {
			const timer = new FakeTimer();
			const options = { timer, ticks: ticksOf(timer), io: FakePin, pin: 9, ...(activeHigh && { activeHigh }) };
			const button = new DigitalButton(options);
			const presses = record(button);
			equal([FakePin.options?.pin, FakePin.options?.mode, FakePin.options?.edge], [9, mode, 3]);
			equal(button.wakePin, { pin: 9, high: activeHigh });
			for (const level of activeHigh ? [1, 0] : [0, 1]) {
				FakePin.become(level);
				timer.pass(100);
			}
			equal(presses, [{ long: false, milliseconds: 100 }]);
			button.close();
			equal(FakePin.closed, true);
		}
	},
	"on a touch screen: are down while a finger is on it"() {
		for (const interrupt of [true, false]) {
			const { touch, presses } = touchScreen(interrupt);
			touch([{}], undefined, []);
			equal([presses.length, presses[0]?.long], [1, false]);
		}
	},
	"on a touch screen that fails now and then: take the next look at it": given(installGuard, ({ guard, release }) => {
		for (const interrupt of [true, false]) {
			const { touch, presses } = touchScreen(interrupt);
			const failure = new Error("I2C read failed");
			touch(failure, [{}], failure, []);
			equal(presses.length, 1);
		}
		release();
		equal(guard.lastError, "Error: I2C read failed");
	}),
});
