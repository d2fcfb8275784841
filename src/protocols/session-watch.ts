import type { TimerHandle, TimerModule } from "../hardware/timer.js";

interface SessionWatchOptions {
	readonly timer: TimerModule;
	/** Milliseconds without a sign of life after which the backend is given up; 0 for never. */
	readonly silenceTimeout: number;
	/** Half of that time has passed: ask the backend for a sign of life. */
	readonly ping: () => void;
	/** All of it has passed. */
	readonly onSilent: () => void;
}

/** Milliseconds between looks. Counting looks costs less than a timer for each message. */
const STEP = 30_000;

/** A session without a message for so many looks is idle. */
const IDLE_STEPS = 2;

/** Watches a session: whether its backend is alive, and whether anybody uses it. */
export class SessionWatch {
	readonly #options: SessionWatchOptions;
	readonly #ticker: TimerHandle;
	/** Looks since the last sign of life. */
	#silentSteps = 0;
	/** Looks since the last message. */
	#quietSteps = 0;

	constructor(options: SessionWatchOptions) {
		this.#options = options;
		this.#ticker = options.timer.repeat(() => this.#look(), STEP);
	}

	/** Whether no message has come for half a minute to a minute. */
	get isIdle(): boolean {
		return this.#quietSteps >= IDLE_STEPS;
	}

	/** A sign of life was heard: a whole message, or a control frame such as a pong. */
	heard(): void {
		this.#silentSteps = 0;
	}

	/** A message came. */
	used(): void {
		this.#quietSteps = 0;
	}

	close(): void {
		this.#options.timer.clear(this.#ticker);
	}

	#look(): void {
		this.#quietSteps += 1;
		this.#silentSteps += 1;
		const limit = this.#options.silenceTimeout / STEP;
		if (limit > 0 && this.#silentSteps > limit) {
			this.#options.onSilent();
		} else if (this.#silentSteps === limit / 2) {
			this.#options.ping();
		}
	}
}
