/** Counts events against a limit per second. */
export class RateLimit {
	readonly #perSecond: number;
	#second = 0;
	#count = 0;

	constructor(perSecond: number) {
		this.#perSecond = perSecond;
	}

	/** Counts an event. Returns whether it is within the limit. */
	take(): boolean {
		const second = Math.floor(performance.now() / 1_000);
		this.#count = second === this.#second ? this.#count + 1 : 1;
		this.#second = second;
		return this.#count <= this.#perSecond;
	}
}
