import { BLANK_FACE, type Face, type Screen } from "../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";

/** Milliseconds that an alert stays on the screen: as long as it takes to read it, and no shorter than this. Also of details. */
const ALERT_TIME = 10_000;

/** Milliseconds that it takes to read a character, if it is an ideograph. */
const READING_TIME = 150;

/**
 * Shows changes of the face, and clears each alert after a time, or as soon as the device's state changes. The emotion
 * that came with the alert goes with it. Details go after a time, too.
 */
export class PassingAlerts {
	private readonly screen: Screen;
	private readonly timer: TimerModule;
	/** The emotion without the alert, and what the face returns to when the alert goes. */
	private emotion = BLANK_FACE.emotion;
	private before: Partial<Face> = {};
	private pending: TimerHandle | undefined;
	private details: TimerHandle | undefined;

	constructor(screen: Screen, timer: TimerModule) {
		this.screen = screen;
		this.timer = timer;
	}

	show(change: Partial<Face>): void {
		if (change.details === true) {
			this.timer.clear(this.details);
			this.details = this.timer.set(() => {
				this.details = undefined;
				this.screen.show({ details: false });
			}, ALERT_TIME);
		}
		if (change.alert !== undefined) {
			this.clear();
			const { status, message } = change.alert;
			const time = Math.max(ALERT_TIME, READING_TIME * (status.length + message.length));
			this.pending = this.timer.set(() => {
				this.pending = undefined;
				this.screen.show(this.without());
			}, time);
			if (change.emotion !== undefined) {
				this.before = { emotion: this.emotion };
			}
			this.screen.show(change);
			return;
		}
		if (change.emotion !== undefined) {
			this.emotion = change.emotion;
			this.before = {};
		}
		if (change.state !== undefined && this.pending !== undefined) {
			this.clear();
			this.screen.show({ ...this.without(), ...change });
		} else {
			this.screen.show(change);
		}
	}

	/** Stops the timers. */
	close(): void {
		this.clear();
		this.timer.clear(this.details);
		this.details = undefined;
	}

	private without(): Partial<Face> {
		const before = this.before;
		this.before = {};
		return { ...before, alert: BLANK_FACE.alert };
	}

	private clear(): void {
		this.timer.clear(this.pending);
		this.pending = undefined;
	}
}
