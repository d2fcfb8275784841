import type { TimerHandle, TimerModule, WakePin } from "../hardware.js";
import type { Button, Press } from "../kinds/button.js";

export interface TimedButtonOptions {
	readonly timer: TimerModule;
	/** A monotonic clock: milliseconds, as a 32-bit number. */
	readonly ticks: () => number;
}

/** Milliseconds that a contact must be quiet before it counts: contacts bounce. */
const DEBOUNCE = 30;

/** Milliseconds after which a press is a long one. */
const LONG_PRESS = 2_000;

/** Turns the signal of a contact or touch screen into presses. */
export class TimedButton implements Button {
	onPress: ((press: Press) => void) | undefined;
	onRelease: ((milliseconds: number) => void) | undefined;
	readonly wakePin: WakePin | undefined;
	protected readonly options: TimedButtonOptions;
	private isDown = false;
	/** Time at which it went down, in ticks. */
	private start = 0;
	/** Runs until the contact is quiet. */
	private debounce: TimerHandle | undefined;
	/** Runs while a press may still become a long one. */
	private hold: TimerHandle | undefined;

	/** @param wakePin its pin, or that of its interrupt. Default: no pin of the chip */
	constructor(options: TimedButtonOptions, wakePin?: WakePin) {
		this.options = options;
		this.wakePin = wakePin;
	}

	/** Updates the state of the contact. */
	follow(isDown: boolean): void {
		const { timer } = this.options;
		timer.clear(this.debounce);
		this.debounce = isDown === this.isDown ? undefined : timer.set(() => this.change(isDown), DEBOUNCE);
	}

	close(): void {
		this.options.timer.clear(this.debounce);
		this.options.timer.clear(this.hold);
		this.debounce = undefined;
		this.hold = undefined;
	}

	private change(isDown: boolean): void {
		const { timer, ticks } = this.options;
		this.debounce = undefined;
		this.isDown = isDown;
		if (isDown) {
			this.start = ticks();
			this.awaitLongPress(LONG_PRESS);
		} else if (this.hold !== undefined) {
			timer.clear(this.hold);
			this.tell(false);
		} else {
			this.onRelease?.(this.duration);
		}
	}

	/** Waits until the press is long. If the contact has just opened, waits until it is quiet. */
	private awaitLongPress(milliseconds: number): void {
		const onTime = () => (this.debounce === undefined ? this.tell(true) : this.awaitLongPress(DEBOUNCE));
		this.hold = this.options.timer.set(onTime, milliseconds);
	}

	/** Milliseconds since it went down. */
	private get duration(): number {
		return (this.options.ticks() - this.start) >>> 0;
	}

	private tell(long: boolean): void {
		this.hold = undefined;
		this.onPress?.({ long, milliseconds: this.duration });
	}
}
