/** Random numbers that a seed decides: xoshiro128**, seeded by splitmix32. */
export class Random {
	#a: number;
	#b: number;
	#c: number;
	#d: number;

	/** @param seed a whole number; only its lowest 32 bits count */
	constructor(seed: number) {
		let state = seed >>> 0;
		const next = (): number => {
			state = (state + 0x9e3779b9) >>> 0;
			let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
			mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
			return (mixed ^ (mixed >>> 15)) >>> 0;
		};
		[this.#a, this.#b, this.#c, this.#d] = [next(), next(), next(), next()];
	}

	/** 32 random bits. */
	bits(): number {
		const rotated = Math.imul(this.#b, 5);
		const result = Math.imul((rotated << 7) | (rotated >>> 25), 9);
		const shifted = this.#b << 9;
		this.#c ^= this.#a;
		this.#d ^= this.#b;
		this.#b ^= this.#c;
		this.#a ^= this.#d;
		this.#c ^= shifted;
		this.#d = (this.#d << 11) | (this.#d >>> 21);
		return result >>> 0;
	}

	/** From 0 up to, but not including, 1. */
	fraction(): number {
		return this.bits() / 2 ** 32;
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
		const bytes = Buffer.alloc(length);
		for (let i = 0; i < length; i += 1) {
			bytes[i] = this.bits() & 0xff;
		}
		return bytes;
	}
}
