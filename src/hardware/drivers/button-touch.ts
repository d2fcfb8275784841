import type { WakePin } from "../hardware.js";
import { TimedButton, type TimedButtonOptions } from "./button.js";

/** ECMA-419's touch sensor. */
export interface TouchSensor {
	/** The fingers on the screen; undefined if nothing has changed. */
	sample(): readonly object[] | undefined;
	/** `interrupt` says whether the sensor calls `onSample` by itself. */
	readonly configuration?: { readonly interrupt?: boolean };
}

export interface TouchButtonOptions extends TimedButtonOptions {
	readonly open: (onSample: () => void) => TouchSensor;
	/** Pin of its interrupt. Default: it leads to no pin of the chip. */
	readonly wakePin?: WakePin | undefined;
}

/** Poll interval of a sensor without an interrupt, ms. */
const POLL_INTERVAL = 50;

/** A touch screen that is one large button. */
export class TouchButton extends TimedButton {
	readonly wakePin: WakePin | undefined;
	private touch: TouchSensor | undefined;

	constructor(options: TouchButtonOptions) {
		super(options);
		this.wakePin = options.wakePin;
		this.touch = options.open(() => this.sample());
		if (this.touch.configuration?.interrupt !== true) {
			options.timer.repeat(() => this.sample(), POLL_INTERVAL);
		}
	}

	/** A bus fails now and then: the next poll tries again. */
	private sample(): void {
		const fingers = this.touch?.sample();
		if (fingers !== undefined) {
			this.follow(fingers.length > 0);
		}
	}
}
