/** Random numbers that a seed decides: mulberry32. */
export class Random {
	#state: number;

	/** @param seed a whole number; only its lowest 32 bits count */
	constructor(seed: number) {
		this.#state = seed >>> 0;
	}

	/** From 0 up to, but not including, 1. */
	fraction(): number {
		this.#state = (this.#state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	}

	/** A whole number from 0 to `limit - 1`. */
	below(limit: number): number {
		return Math.floor(this.fraction() * limit);
	}

	/** A number between two, the first one included. */
	between(low: number, high: number): number {
		return low + this.fraction() * (high - low);
	}

	chance(probability: number): boolean {
		return this.fraction() < probability;
	}

	pick<T>(items: readonly T[]): T {
		return items[this.below(items.length)] as T;
	}

	bytes(length: number): Buffer {
		return Buffer.from(Array.from({ length }, () => this.below(256)));
	}
}
