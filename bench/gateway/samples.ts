/** Milliseconds that calls took. */
export class Samples {
	readonly #values: number[] = [];

	/** Measures a call. */
	async time(call: () => Promise<void>): Promise<void> {
		const start = performance.now();
		await call();
		this.add(performance.now() - start);
	}

	/** @param milliseconds that something took */
	add(milliseconds: number): void {
		this.#values.push(milliseconds);
	}

	get count(): number {
		return this.#values.length;
	}

	/** The milliseconds within which that part of the calls was answered: 0.5 for half of them. */
	within(part: number): number {
		const sorted = [...this.#values].sort((a, b) => a - b);
		return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
	}

	/** "p50 / p99", and how many they were where those are fewer than expected. */
	describe(expected: number): string {
		const count = this.#values.length < expected ? ` (${this.#values.length} calls)` : "";
		return `${this.within(0.5).toFixed(2)} / ${this.within(0.99).toFixed(2)}${count}`;
	}
}
