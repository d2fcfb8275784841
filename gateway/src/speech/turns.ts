/** What waits for its turn. */
interface Waiting {
	readonly isUrgent: boolean;
	readonly begin: () => void;
}

/** The turns of one device: one announcement after the other, urgent ones first. */
export class Turns {
	readonly #waiting: Waiting[] = [];
	/** Ends the announcement that has its turn; undefined if none has. */
	#current: AbortController | undefined;

	/** Announcements that wait. */
	get waiting(): number {
		return this.#waiting.length;
	}

	/** Ends the announcement that has its turn. */
	interrupt(reason: Error): void {
		this.#current?.abort(reason);
	}

	/**
	 * Waits for a turn, and takes it.
	 *
	 * @param announce rejects once its signal says that it was interrupted
	 */
	async take<T>(isUrgent: boolean, announce: (interrupted: AbortSignal) => Promise<T>): Promise<T> {
		if (this.#current !== undefined) {
			await this.#wait(isUrgent);
		}
		const current = new AbortController();
		this.#current = current;
		try {
			return await announce(current.signal);
		} finally {
			const next = this.#waiting.shift();
			// The one that begins now has its turn before others can ask for it.
			this.#current = next && current;
			next?.begin();
		}
	}

	#wait(isUrgent: boolean): Promise<void> {
		return new Promise((begin) => {
			const at = isUrgent ? this.#waiting.findIndex((each) => !each.isUrgent) : -1;
			this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, { isUrgent, begin });
		});
	}
}
