import type { TimerHandle, TimerModule } from "../../hardware/timer.js";

/** Milliseconds that an idle device shows what was said last, at least, and then stays awake. */
const MESSAGE_TIME = 30_000;
const WAKE_TIME = 90_000;

interface FaceRestOptions {
	readonly timer: TimerModule;
	/** The last words have been read. */
	readonly onRead: () => void;
	/** The face falls asleep. */
	readonly onAsleep: () => void;
}

/** Lets the face of an idle device rest: first it forgets what was said, then it sleeps. */
export class FaceRest {
	private readonly options: FaceRestOptions;
	private _isAsleep = false;
	private timer: TimerHandle | undefined;

	constructor(options: FaceRestOptions) {
		this.options = options;
	}

	get isAsleep(): boolean {
		return this._isAsleep;
	}

	/** A person may look: the time until it rests starts again. */
	wake(): void {
		this._isAsleep = false;
		this.close();
	}

	/**
	 * It may rest.
	 *
	 * @param readingTime milliseconds that a person needs for the words
	 */
	begin(readingTime: number): void {
		const { timer, onRead, onAsleep } = this.options;
		this.timer = timer.set(
			() => {
				onRead();
				this.timer = timer.set(() => {
					this.timer = undefined;
					this._isAsleep = true;
					onAsleep();
				}, WAKE_TIME);
			},
			Math.max(MESSAGE_TIME, 2 * readingTime),
		);
	}

	close(): void {
		this.options.timer.clear(this.timer);
		this.timer = undefined;
	}
}
