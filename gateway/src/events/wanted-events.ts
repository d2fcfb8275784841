import type { EventQuery } from "./event-feed.js";
import type { LoggedEvent } from "./event-log.js";

/** Milliseconds for which a client that polls is expected back. */
const LINGER = 300_000;

/** Known subscriptions, including those that have just ended. */
const MAX_WANTED = 1_000;

type Matches = EventQuery["matches"];

/** Subscriptions to events that are recorded only on demand. */
export class WantedEvents {
	/** Each with the time at which it ends, once it is closed. */
	readonly #wanted = new Map<Matches, number>();

	/** Whether a subscription asks for an event. */
	has(event: Pick<LoggedEvent, "name" | "device" | "data">): boolean {
		const now = Date.now();
		const asked = { eventId: "", seq: 0, timestamp: new Date(now).toISOString(), ...event };
		return [...this.#wanted].some(([matches, end]) => end > now && matches(asked));
	}

	/** Follows a subscription until it is closed, and a while longer. */
	follow(query: EventQuery): EventQuery {
		const { matches } = query;
		this.#set(matches, Number.POSITIVE_INFINITY);
		const close = (): void => {
			if (this.#wanted.has(matches)) {
				this.#set(matches, Date.now() + LINGER);
			}
		};
		return { ...query, source: { ready: Promise.resolve(), close } };
	}

	/** Removes the oldest, a closed one if possible. */
	#set(matches: Matches, end: number): void {
		this.#wanted.delete(matches);
		this.#wanted.set(matches, end);
		if (this.#wanted.size > MAX_WANTED) {
			const [oldest] = [...this.#wanted].find(([, each]) => Number.isFinite(each)) ?? [...this.#wanted.keys()];
			this.#wanted.delete(oldest as Matches);
		}
	}
}
