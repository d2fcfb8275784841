/** An announcement that waits. */
interface Waiting {
	readonly isUrgent: boolean;
	readonly begin: () => void;
}

/** The announcements of one device: one after the other, urgent ones first. */
export class AnnouncementQueue {
	readonly #waiting: Waiting[] = [];
	/** Ends the announcement in progress. */
	#current: AbortController | undefined;

	/** Announcements that wait. */
	get length(): number {
		return this.#waiting.length;
	}

	/** Ends the announcement in progress. */
	interrupt(reason: Error): void {
		this.#current?.abort(reason);
	}

	/**
	 * Runs an announcement when those before it have ended.
	 *
	 * @param announce rejects once its signal says that it was interrupted
	 */
	async run<T>(isUrgent: boolean, announce: (interrupted: AbortSignal) => Promise<T>): Promise<T> {
		if (this.#current !== undefined) {
			await this.#wait(isUrgent);
		}
		const current = new AbortController();
		this.#current = current;
		try {
			return await announce(current.signal);
		} finally {
			const next = this.#waiting.shift();
			// The next one begins before another can.
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
