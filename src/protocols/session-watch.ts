import type { TimerHandle, TimerModule } from "../hardware/timer.js";

/** Events of a watched session. */
export interface WatchEvents {
	/** The session has lasted {@link GOOD_SESSION}. */
	onLasted(): void;
	/** Half of the silence timeout has passed: the backend is to be pinged. */
	onQuiet(): void;
	/** All of it has passed. */
	onSilent(): void;
}

/** Poll interval, ms. Counting polls costs less than a timer for each message. */
const STEP = 30_000;

/** Milliseconds after which a session counts as a good one. */
const GOOD_SESSION = 10_000;

/** A session without a message for this many polls is idle. */
const IDLE_STEPS = 2;

/** Watches whether a session's backend is alive, and whether the session is used. */
export class SessionWatch {
	private readonly events: WatchEvents;
	private readonly timer: TimerModule;
	private readonly silenceTimeout: number;
	private readonly ticker: TimerHandle;
	private readonly lasting: TimerHandle;
	/** Polls since the last sign of life, a whole message or a control frame such as a pong. Whoever hears one sets it to 0. */
	silentSteps = 0;
	/** Polls since the last message. Whoever takes one sets it to 0. */
	quietSteps = 0;

	/** @param silenceTimeout milliseconds without a sign of life after which the session ends; 0 for never */
	constructor(events: WatchEvents, timer: TimerModule, silenceTimeout: number) {
		this.events = events;
		this.timer = timer;
		this.silenceTimeout = silenceTimeout;
		this.ticker = timer.repeat(() => this.checkLife(), STEP);
		this.lasting = timer.set(() => events.onLasted(), GOOD_SESSION);
	}

	/** Whether no message has come for half a minute to a minute. */
	get isIdle(): boolean {
		return this.quietSteps >= IDLE_STEPS;
	}

	close(): void {
		this.timer.clear(this.ticker);
		this.timer.clear(this.lasting);
	}

	private checkLife(): void {
		this.quietSteps += 1;
		this.silentSteps += 1;
		const limit = this.silenceTimeout / STEP;
		if (limit > 0 && this.silentSteps > limit) {
			this.events.onSilent();
		} else if (this.silentSteps === limit / 2) {
			this.events.onQuiet();
		}
	}
}
