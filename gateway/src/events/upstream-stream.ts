import { setTimeout as delay } from "node:timers/promises";
import { ProtocolError } from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { backoff, type Session } from "xs-mcp-manager/core";
import { z } from "zod";

/** The member of `_meta` with the id of the request that a notification belongs to. */
export const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

/** Milliseconds of a request that does not end: the longest that a timer takes. */
const ENDLESS = 2 ** 31 - 1;

/** Milliseconds that a server has to accept a subscription, before the gateway goes on without knowing. */
const ACCEPT_TIME = 10_000;

/** Milliseconds without a message after which a stream counts as lost: servers send a sign of life on it. */
const SILENCE = 90_000;

/** Milliseconds before a stream that has ended is opened again, and between polls. */
const BACKOFF = { initialDelay: 1_000, maxDelay: 60_000 };
const MIN_POLL = 1_000;
const MAX_POLL = 60_000;

/** Events whose ids are known: a server may repeat them. */
const MAX_KNOWN = 1_000;

const cursor = z.string().max(1_024).nullish();
const OCCURRENCE = z.looseObject({
	eventId: z.string().max(256),
	timestamp: z.string().max(64).optional(),
	data: z.record(z.string(), z.unknown()).default({}),
	cursor,
});
const POLL_RESULT = z.looseObject({
	events: z.array(z.unknown()),
	cursor,
	hasMore: z.boolean().optional(),
	nextPollMs: z.number().optional(),
});

/** An event of a configured server. */
export type UpstreamOccurrence = z.infer<typeof OCCURRENCE>;

export interface UpstreamStreamOptions {
	/** The server's own name of the type. */
	readonly name: string;
	readonly args: Readonly<Record<string, unknown>>;
	/** Whether the server has streams of this type; else it is polled. */
	readonly isPushed: boolean;
	/** Where to go on; null: from now on. */
	readonly cursor: string | null;
	/** The session with the server, once it is online. Rejects if the signal says so. */
	readonly online: (signal: AbortSignal) => Promise<Session>;
	readonly isOnline: () => boolean;
	readonly onEvent: (event: UpstreamOccurrence) => void;
	/** Called with an event that is not valid. */
	readonly onInvalid: () => void;
}

/** The events of one type and one set of arguments that a configured server sends, over all of its sessions. */
export class UpstreamStream {
	/** Settles when the server has accepted the subscription, or cannot be asked now. Rejects with its ProtocolError. */
	readonly accepted: Promise<void>;
	readonly #options: UpstreamStreamOptions;
	readonly #stop = new AbortController();
	readonly #known = new LRUCache<string, true>({ max: MAX_KNOWN });
	#cursor: string | null;
	#accept: () => void = () => {};
	#reject: (error: Error) => void = () => {};

	constructor(options: UpstreamStreamOptions) {
		this.#options = options;
		this.#cursor = options.cursor;
		this.accepted = new Promise((resolve, reject) => {
			this.#accept = resolve;
			this.#reject = reject;
		});
		this.accepted.catch(() => {});
		const wait = options.isOnline() ? ACCEPT_TIME : 0;
		setTimeout(() => this.#accept(), wait).unref();
		void this.#run();
	}

	stop(): void {
		this.#stop.abort();
		this.#accept();
	}

	async #run(): Promise<void> {
		const { signal } = this.#stop;
		for (let retries = 0; !signal.aborted; retries += 1) {
			const before = this.#cursor;
			try {
				const session = await this.#options.online(signal);
				await (this.#options.isPushed ? this.#stream(session) : this.#poll(session));
			} catch (error) {
				if (ProtocolError.isInstance(error)) {
					this.#reject(error);
				}
			}
			retries = this.#cursor === before ? retries : 0;
			await delay(backoff(BACKOFF, retries), undefined, { signal }).catch(() => {});
		}
	}

	/** Settles when the stream has ended. Over HTTP the SDK does not say that its connection was lost. */
	async #stream(session: Session): Promise<void> {
		const { name, args } = this.#options;
		const lost = new AbortController();
		const onLost = (): void => lost.abort();
		const watchdog = setTimeout(onLost, SILENCE);
		let id: unknown;
		const onNotification = (method: string, { _meta, ...params }: Readonly<Record<string, unknown>>): void => {
			const of = (_meta as Record<string, unknown> | undefined)?.[SUBSCRIPTION_ID];
			if (id !== undefined && of === id && method.startsWith("notifications/events/")) {
				watchdog.refresh();
				this.#told(method, params);
			}
		};
		session.on("notification", onNotification);
		session.on("gap", onLost);
		try {
			await session.forward(
				"events/stream",
				{ name, arguments: args, cursor: this.#cursor },
				{ timeout: ENDLESS, signal: AbortSignal.any([this.#stop.signal, lost.signal]), onSent: (sent) => (id = sent) },
			);
		} finally {
			clearTimeout(watchdog);
			session.off("notification", onNotification);
			session.off("gap", onLost);
		}
	}

	#told(method: string, params: Readonly<Record<string, unknown>>): void {
		this.#accept();
		if (method === "notifications/events/event") {
			this.#receive(params);
		} else if (typeof params.cursor === "string") {
			this.#cursor = params.cursor;
		}
	}

	/** Rejects when the server does not answer, or answers with an error. */
	async #poll(session: Session): Promise<void> {
		const { name, args } = this.#options;
		const { signal } = this.#stop;
		while (!signal.aborted && session.connected) {
			const answer = await session.forward("events/poll", { name, arguments: args, cursor: this.#cursor }, { signal });
			const { events, cursor, hasMore, nextPollMs = 0 } = POLL_RESULT.parse(answer);
			this.#accept();
			for (const event of events) {
				this.#receive(event);
			}
			this.#cursor = cursor ?? this.#cursor;
			const pause = hasMore ? 0 : Math.min(Math.max(nextPollMs, MIN_POLL), MAX_POLL);
			await delay(pause, undefined, { signal });
		}
	}

	#receive(params: unknown): void {
		const { data: event } = OCCURRENCE.safeParse(params);
		if (event === undefined) {
			this.#options.onInvalid();
			return;
		}
		this.#cursor = event.cursor ?? this.#cursor;
		if (!this.#known.has(event.eventId)) {
			this.#known.set(event.eventId, true);
			this.#options.onEvent({ ...event, cursor: this.#cursor });
		}
	}
}
