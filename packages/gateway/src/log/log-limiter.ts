import type { Logger } from "./log.js";

/** Lines of one kind in an interval. */
const MAX_LINES = 10;

/** Milliseconds. */
const INTERVAL = 10_000;

/**
 * Logs warnings that strangers can cause at any rate: the first lines of each kind in 10 s, then how many more there were.
 */
export class LogLimiter {
	readonly #log: Logger;
	/** Number of lines in this interval, by kind. */
	readonly #counts = new Map<string, number>();
	#timer: NodeJS.Timeout | undefined;

	constructor(log: Logger) {
		this.#log = log;
	}

	/** @param reason the kind of the warning: one of a few words */
	warn(reason: string, details: object, message: string): void {
		const count = (this.#counts.get(reason) ?? 0) + 1;
		this.#counts.set(reason, count);
		if (count <= MAX_LINES) {
			this.#log.warn({ ...details, reason }, message);
		}
		this.#timer ??= setTimeout(() => this.flush(), INTERVAL).unref();
	}

	/** Logs the counts of this interval, and begins another. */
	flush(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		for (const [reason, lines] of this.#counts) {
			if (lines > MAX_LINES) {
				const count = lines - MAX_LINES;
				this.#log.warn({ reason, count }, `${count} more rejected`);
			}
		}
		this.#counts.clear();
	}
}
