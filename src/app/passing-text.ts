import type { Face } from "../hardware/hardware.js";
import type { TimerHandle, TimerModule } from "../hardware/timer.js";

/** Clears a text that is shown for a time only, unless another has taken its place. */
export class PassingText {
	readonly #timer: TimerModule;
	readonly #show: (change: Partial<Face>) => void;
	#pending: TimerHandle | undefined;

	constructor(timer: TimerModule, show: (change: Partial<Face>) => void) {
		this.#timer = timer;
		this.#show = show;
	}

	/** @param milliseconds how long the message is shown. Default: until there is another */
	show(change: Partial<Face>, milliseconds?: number): void {
		if (change.message !== undefined) {
			this.close();
		}
		this.#show(change);
		if (change.message !== undefined && milliseconds !== undefined) {
			this.#pending = this.#timer.set(() => {
				this.#pending = undefined;
				this.#show({ message: "" });
			}, milliseconds);
		}
	}

	/** Stops the timer. */
	close(): void {
		this.#timer.clear(this.#pending);
		this.#pending = undefined;
	}
}
