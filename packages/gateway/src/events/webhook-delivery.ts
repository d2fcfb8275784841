import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { EventFeed } from "./event-feed.js";
import type { CallbackProblem } from "./event-types.js";
import { type PostAnswer, problemOfStatus, type WebhookMessage } from "./webhook-post.js";

const MAX_ATTEMPTS = 5;

/** Milliseconds before the second attempt. Each pause is three times the one before: 40 s in all. */
const FIRST_PAUSE = 1_000;
const PAUSE_FACTOR = 3;

/** Statuses after which an attempt is not repeated. */
const TOO_LARGE = 413;
/** Ends the subscription. */
const GONE = 410;

interface DeliveryEvents {
	/** Everything up to a cursor was accepted or given up. */
	moved: [cursor: string];
	gone: [];
	/** An event is given up. `isFirst`: the endpoint had accepted the event before. */
	givenUp: [problem: CallbackProblem, isFirst: boolean];
}

/**
 * Delivers the events of one subscription in order. The next one is sent once the endpoint has accepted the one before, or
 * that one is given up. An event may arrive twice.
 */
export class WebhookDelivery extends EventEmitter<DeliveryEvents> {
	readonly #feed: EventFeed;
	readonly #send: (message: WebhookMessage) => Promise<PostAnswer>;
	readonly #stop = new AbortController();
	#retryNow = new AbortController();
	#lastDeliveryAt: string | null = null;
	#lastError: CallbackProblem | null = null;
	#failedSince: string | undefined;
	/** Whether the last event was given up. */
	#isLosing = false;
	/** Whether the endpoint is to be told that events are missing. */
	#hasGap = false;

	constructor(feed: EventFeed, send: (message: WebhookMessage) => Promise<PostAnswer>) {
		super();
		this.#feed = feed;
		this.#send = send;
	}

	/** The state of the delivery: SEP-3415, "Webhook Delivery Status". */
	get status() {
		return {
			active: true,
			lastDeliveryAt: this.#lastDeliveryAt,
			lastError: this.#lastError,
			failedSince: this.#failedSince,
		};
	}

	/** Delivers until {@link stop}. Rejects with what is a fault of the gateway. */
	async run(): Promise<void> {
		const feed = this.#feed;
		while (!this.#isStopped) {
			if (feed.takeTruncated() || this.#hasGap) {
				this.#hasGap = false;
				await this.#deliver(controlMessage("gap", { cursor: feed.cursor }));
			}
			const [event] = feed.next(1);
			if (event !== undefined) {
				const { eventId, name, timestamp, data } = event;
				const body = { eventId, name, timestamp, data, cursor: feed.cursor };
				const problem = await this.#deliver({ id: eventId, body });
				if (problem !== undefined) {
					this.emit("givenUp", problem, !this.#isLosing);
					this.#hasGap = true;
				}
				this.#isLosing = problem !== undefined;
			}
			if (!this.#isStopped) {
				this.emit("moved", feed.cursor);
			}
			if (!this.#hasGap) {
				await feed.changed(this.#stop.signal);
			}
		}
	}

	/** Tries a message that waits at once: the client has renewed the subscription. */
	retry(): void {
		this.#retryNow.abort();
		this.#retryNow = new AbortController();
	}

	/** Ends the delivery. A message in progress may still arrive. */
	stop(): void {
		this.#stop.abort();
		this.#retryNow.abort();
	}

	get #isStopped(): boolean {
		return this.#stop.signal.aborted;
	}

	/** Resolves once the endpoint has accepted the message, or with the problem for which it is given up. */
	async #deliver(message: WebhookMessage): Promise<CallbackProblem | undefined> {
		let pause = FIRST_PAUSE;
		for (let attempt = 1; !this.#isStopped; attempt += 1) {
			const answer = await this.#send(message);
			const status = "status" in answer ? answer.status : 0;
			const problem = "status" in answer ? problemOfStatus(answer.status) : answer.problem;
			this.#lastError = problem ?? null;
			if (problem === undefined) {
				this.#lastDeliveryAt = new Date().toISOString();
				this.#failedSince = undefined;
				return undefined;
			}
			this.#failedSince ??= new Date().toISOString();
			if (status === GONE) {
				this.stop();
				this.emit("gone");
				return undefined;
			}
			if (status === TOO_LARGE || attempt === MAX_ATTEMPTS) {
				return problem;
			}
			// Endpoints that fail together are not all tried at the same moment.
			const wait = pause * (0.75 + Math.random() / 2);
			pause *= PAUSE_FACTOR;
			await delay(wait, undefined, { signal: this.#retryNow.signal }).catch(() => {});
		}
		return undefined;
	}
}

/** Makes a message that is no event: SEP-3415, "Non-event webhook bodies". */
export function controlMessage(type: "gap" | "terminated" | "verification", members: object): WebhookMessage {
	return { id: `msg_${type}_${randomBytes(12).toString("hex")}`, body: { type, ...members } };
}
