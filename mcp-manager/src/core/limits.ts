/** Levels of arrays and objects in a message of a server or a client. Deeper values could not be serialized again. */
export const MAX_NESTING = 100;

/** Whether arrays and objects nest deeper in a value of JSON than that many levels. */
export function nestsDeeper(value: unknown, levels: number): boolean {
	if (typeof value !== "object" || value === null) {
		return false;
	}
	if (levels === 0) {
		return true;
	}
	for (const item of Object.values(value)) {
		if (nestsDeeper(item, levels - 1)) {
			return true;
		}
	}
	return false;
}

/** Rate limit by a token bucket. */
export class RateLimit {
	readonly #perSecond: number;
	readonly #burst: number;
	#tokens: number;
	#filledAt = performance.now();

	/** @param burst events that may come at once */
	constructor(perSecond: number, burst = perSecond) {
		this.#perSecond = perSecond;
		this.#burst = burst;
		this.#tokens = burst;
	}

	/** Counts an event. Returns whether it is within the limit. */
	take(): boolean {
		const now = performance.now();
		const refill = ((now - this.#filledAt) / 1_000) * this.#perSecond;
		this.#tokens = Math.min(this.#burst, this.#tokens + refill);
		this.#filledAt = now;
		if (this.#tokens < 1) {
			return false;
		}
		this.#tokens -= 1;
		return true;
	}
}
