export interface BackoffOptions {
	/** First and longest delay in milliseconds. Default 1,000 and 60,000. */
	readonly minimum?: number;
	readonly maximum?: number;
	/** A number in [0, 1). Default `Math.random`. */
	readonly random?: () => number;
}

/** Delays before new attempts: doubling, with jitter, so that devices do not reconnect at the same instant. */
export class Backoff {
	private readonly minimum: number;
	private readonly maximum: number;
	private readonly random: () => number;
	private step: number;

	constructor(options: BackoffOptions = {}) {
		this.minimum = options.minimum ?? 1_000;
		this.maximum = options.maximum ?? 60_000;
		this.random = options.random ?? Math.random;
		this.step = this.minimum;
	}

	/** Returns the next delay in milliseconds: from half of the step to all of it. */
	next(): number {
		const step = this.step;
		this.step = Math.min(step * 2, this.maximum);
		return Math.round((step / 2) * (1 + this.random()));
	}

	/** Starts over with the first delay. */
	reset(): void {
		this.step = this.minimum;
	}
}
