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
