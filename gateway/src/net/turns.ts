/** Runs tasks so that no more than some run at the same time; the others wait, in the order in which they came. */
export class Turns {
	readonly #limit: number;
	#running = 0;
	readonly #waiting: (() => void)[] = [];

	constructor(limit: number) {
		this.#limit = limit;
	}

	/** Settles as the task does. */
	async run<T>(task: () => Promise<T>): Promise<T> {
		if (this.#running < this.#limit) {
			this.#running += 1;
		} else {
			// The task that ends hands on its place.
			await new Promise<void>((resolve) => void this.#waiting.push(resolve));
		}
		try {
			return await task();
		} finally {
			const next = this.#waiting.shift();
			if (next === undefined) {
				this.#running -= 1;
			} else {
				next();
			}
		}
	}
}
