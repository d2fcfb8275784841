import type { EventQuery } from "./event-feed.js";
import type { LoggedEvent } from "./event-log.js";

/** Milliseconds for which a client that polls is expected back. */
const LINGER = 300_000;

/** Subscriptions that are known, those that have just ended included. */
const MAX_WANTED = 1_000;

type Matches = EventQuery["matches"];

/** Who waits for events that are recorded only if somebody does. */
export class WantedEvents {
	/** With the time at which those end that are closed. */
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

	/** The one that was set longest ago makes room; of those that are closed, if there are any. */
	#set(matches: Matches, end: number): void {
		this.#wanted.delete(matches);
		this.#wanted.set(matches, end);
		if (this.#wanted.size > MAX_WANTED) {
			const [oldest] = [...this.#wanted].find(([, each]) => Number.isFinite(each)) ?? [...this.#wanted.keys()];
			this.#wanted.delete(oldest as Matches);
		}
	}
}
