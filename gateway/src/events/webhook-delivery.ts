import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { CallbackProblem } from "./event-error.js";
import type { EventFeed } from "./event-feed.js";
import { type PostAnswer, problemOfStatus, type WebhookMessage } from "./webhook-post.js";

/** Milliseconds before the second attempt, and at most between two. Each pause is twice the one before. */
const FIRST_PAUSE = 1_000;
const MAX_PAUSE = 60_000;

/** Statuses after which an attempt is not repeated: too large; and no longer there, which ends the subscription. */
const TOO_LARGE = 413;
const GONE = 410;

export interface WebhookDeliveryOptions {
	readonly feed: EventFeed;
	readonly send: (message: WebhookMessage) => Promise<PostAnswer>;
	/** Called when everything up to a cursor was accepted or given up. */
	readonly onMoved: (cursor: string) => void;
	/** Called when the endpoint says that it is gone. */
	readonly onGone: () => void;
}

/** How delivery goes on: SEP-3415, "Webhook Delivery Status". */
export interface DeliveryStatus {
	readonly active: boolean;
	readonly lastDeliveryAt: string | null;
	readonly lastError: CallbackProblem | null;
	readonly failedSince?: string;
}

/**
 * Delivers the events of one subscription, one after the other: the next one once the endpoint has accepted the one before, so
 * that they arrive in order, at least once.
 */
export class WebhookDelivery {
	readonly #options: WebhookDeliveryOptions;
	readonly #stop = new AbortController();
	#retryNow = new AbortController();
	#lastDeliveryAt: string | null = null;
	#lastError: CallbackProblem | null = null;
	#failedSince: string | undefined;

	constructor(options: WebhookDeliveryOptions) {
		this.#options = options;
	}

	get status(): DeliveryStatus {
		return {
			active: true,
			lastDeliveryAt: this.#lastDeliveryAt,
			lastError: this.#lastError,
			...(this.#failedSince !== undefined && { failedSince: this.#failedSince }),
		};
	}

	/** Delivers until {@link stop}. Rejects with what is a fault of the gateway. */
	async run(): Promise<void> {
		const { feed, onMoved } = this.#options;
		while (!this.#isStopped) {
			if (feed.takeTruncated()) {
				await this.#deliver(controlMessage("gap", { cursor: feed.cursor }));
			}
			const [event] = feed.next(1);
			if (event !== undefined) {
				const { eventId, name, timestamp, data } = event;
				await this.#deliver({ id: eventId, body: { eventId, name, timestamp, data, cursor: feed.cursor } });
			}
			if (!this.#isStopped) {
				onMoved(feed.cursor);
				await feed.changed(this.#stop.signal);
			}
		}
	}

	/** The client has renewed the subscription: a message that waits is tried at once. */
	retry(): void {
		this.#retryNow.abort();
		this.#retryNow = new AbortController();
	}

	/** A message in progress may still arrive. */
	stop(): void {
		this.#stop.abort();
		this.#retryNow.abort();
	}

	get #isStopped(): boolean {
		return this.#stop.signal.aborted;
	}

	/** Settles when the endpoint has accepted the message, or it is given up. */
	async #deliver(message: WebhookMessage): Promise<void> {
		for (let pause = FIRST_PAUSE; !this.#isStopped; pause = Math.min(2 * pause, MAX_PAUSE)) {
			const answer = await this.#options.send(message);
			const status = "status" in answer ? answer.status : 0;
			const problem = "status" in answer ? problemOfStatus(answer.status) : answer.problem;
			this.#lastError = problem ?? null;
			if (problem === undefined) {
				this.#lastDeliveryAt = new Date().toISOString();
				this.#failedSince = undefined;
			} else {
				this.#failedSince ??= new Date().toISOString();
			}
			if (status === GONE) {
				this.stop();
				this.#options.onGone();
				return;
			}
			if (problem === undefined || status === TOO_LARGE) {
				return;
			}
			// Endpoints that fail together are not all tried at the same moment.
			const wait = pause * (0.75 + Math.random() / 2);
			await delay(wait, undefined, { signal: this.#retryNow.signal }).catch(() => {});
		}
	}
}

/** A message that is no event: SEP-3415, "Non-event webhook bodies". */
export function controlMessage(type: "gap" | "terminated" | "verification", members: object): WebhookMessage {
	return { id: `msg_${type}_${randomBytes(12).toString("hex")}`, body: { type, ...members } };
}
