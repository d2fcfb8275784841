/** Milliseconds of difference that are logged: then clocks are not set by anything. */
const MAX_DIFFERENCE = 5_000;

/** Milliseconds after which a new measurement replaces the one before, although it is less exact: clocks drift. */
const MAX_AGE = 600_000;

/** How much NATS' clock is ahead. */
interface Difference {
	readonly value: number;
	/** How much more or less it may be. */
	readonly error: number;
	/** When it was measured, by `performance.now()`. */
	readonly time: number;
}

/**
 * The clock that the gateways of a cluster share: that of NATS, which stamps the leases of all in one place. What one of them
 * writes for others to read has times of this clock, because the gateways' own may differ. All in milliseconds.
 */
export class SharedClock {
	readonly #warn: (message: string) => void;
	#difference: Difference = { value: 0, error: Number.POSITIVE_INFINITY, time: 0 };
	#isWarned = false;

	constructor(warn: (message: string) => void) {
		this.#warn = warn;
	}

	/** Now, in milliseconds since 1970. */
	get now(): number {
		return Date.now() + this.difference;
	}

	/** The difference to add to a time of this gateway's own clock. */
	get difference(): number {
		return this.#difference.value;
	}

	/**
	 * Compares the clocks.
	 *
	 * @param stamp by NATS' clock, of a message that was sent and stored between two times by this gateway's clock
	 */
	learn(stamp: number, sent: number, stored: number): void {
		const value = Math.round(stamp - (sent + stored) / 2);
		const error = Math.abs(stored - sent) / 2 + 1;
		const known = this.#difference;
		const time = performance.now();
		const isSame = Math.abs(value - known.value) <= error + known.error;
		if (isSame && error >= known.error && time - known.time < MAX_AGE) {
			return;
		}
		this.#difference = { value, error, time };
		const isWrong = Math.abs(value) - error > MAX_DIFFERENCE;
		if (isWrong && !this.#isWarned) {
			const seconds = `${Math.abs(value / 1_000).toFixed(1)} s ${value > 0 ? "behind" : "ahead of"}`;
			this.#warn(
				`cluster: this computer's clock is ${seconds} that of NATS, which is used for sign-ins. Set it by NTP`,
			);
		}
		this.#isWarned = isWrong;
	}
}
