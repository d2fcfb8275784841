import type { WakePin } from "../hardware.js";
import { TimedButton, type TimedButtonOptions } from "./button.js";

/** ECMA-419's touch sensor. */
export interface TouchSensor {
	/** The fingers on the screen; undefined if nothing has changed. */
	sample(): readonly unknown[] | undefined;
	/** `interrupt` says whether the sensor calls `onSample` by itself. */
	readonly configuration?: { readonly interrupt?: boolean };
}

export interface TouchButtonOptions extends TimedButtonOptions {
	readonly open: (onSample: () => void) => TouchSensor;
	readonly wakePin?: WakePin | undefined;
}

/** Poll interval of a sensor without an interrupt, ms. */
const POLL_INTERVAL = 50;

/** A touch screen that is one large button. */
export class TouchButton extends TimedButton {
	private readonly touch: TouchSensor | undefined;

	constructor(options: TouchButtonOptions) {
		super(options, options.wakePin);
		this.touch = options.open(() => this.sample());
		if (this.touch.configuration?.interrupt !== true) {
			options.timer.repeat(() => this.sample(), POLL_INTERVAL);
		}
	}

	/** Reads the fingers. A bus fails occasionally: the next poll tries again. */
	private sample(): void {
		const fingers = this.touch?.sample();
		if (fingers !== undefined) {
			this.follow(fingers.length > 0);
		}
	}
}
