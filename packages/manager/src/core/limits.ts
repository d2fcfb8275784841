import pLimit from "p-limit";

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
	for (const key in value) {
		if (nestsDeeper((value as Readonly<Record<string, unknown>>)[key], levels - 1)) {
			return true;
		}
	}
	return false;
}

/** Bytes of one message of a server or a client. A longer one is an error. */
export const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** Bytes that may wait for a server that does not read. Beyond that, its connection ends. */
export const MAX_UNSENT_BYTES = 10 * 1024 * 1024;

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

/** Bytes that are read of one server in a second: reading them takes less than a tenth of a core. The rest waits with the server. */
const MAX_BYTES_PER_SECOND = 10 * 1024 * 1024;

/** Limits the read rate, so that a flooding server does not delay others. */
export class ReadBudget {
	#second = 0;
	#bytes = 0;

	/** Counts bytes that were read. Returns the milliseconds to wait before reading on; 0 if there is no need. */
	spend(bytes: number): number {
		const now = performance.now();
		const second = Math.floor(now / 1_000);
		this.#bytes = second === this.#second ? this.#bytes + bytes : bytes;
		this.#second = second;
		return this.#bytes < MAX_BYTES_PER_SECOND ? 0 : (second + 1) * 1_000 - now;
	}

	/** Counts bytes that a stream has delivered, and pauses it if it is necessary. */
	throttle(stream: { pause(): unknown; resume(): unknown }, bytes: number): void {
		const wait = this.spend(bytes);
		if (wait > 0) {
			stream.pause();
			setTimeout(() => stream.resume(), wait).unref();
		}
	}
}

/** Runs a task one at a time. Requests during a run share one more run afterwards. */
export function coalesced(task: () => Promise<void>): () => Promise<void> {
	const limit = pLimit(1);
	let next = Promise.resolve();
	return () => {
		next = limit.pendingCount === 0 ? limit(task) : next;
		return next;
	};
}
