import { BLANK_FACE, type Face, type Screen } from "../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";

/** Milliseconds that an alert stays on the screen: as long as it takes to read it, and no shorter than this. */
const ALERT_TIME = 10_000;

/** Milliseconds that it takes to read a character, if it is an ideograph. */
const READING_TIME = 150;

/** Shows changes of the face, and clears each alert after a time, or as soon as the device's state changes. */
export class PassingAlerts {
	readonly #screen: Screen;
	readonly #timer: TimerModule;
	#pending: TimerHandle | undefined;

	constructor(screen: Screen, timer: TimerModule) {
		this.#screen = screen;
		this.#timer = timer;
	}

	show(change: Partial<Face>): void {
		if (change.alert !== undefined) {
			this.close();
			const { status, message } = change.alert;
			const time = Math.max(ALERT_TIME, READING_TIME * (status.length + message.length));
			this.#pending = this.#timer.set(() => {
				this.#pending = undefined;
				this.#screen.show({ alert: BLANK_FACE.alert });
			}, time);
			this.#screen.show(change);
		} else if (change.state !== undefined && this.#pending !== undefined) {
			this.close();
			this.#screen.show({ ...change, alert: BLANK_FACE.alert });
		} else {
			this.#screen.show(change);
		}
	}

	/** Stops the timer of the current alert. */
	close(): void {
		this.#timer.clear(this.#pending);
		this.#pending = undefined;
	}
}
