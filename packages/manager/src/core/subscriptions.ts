import {
	type Client,
	type McpSubscription,
	ProtocolError,
	ProtocolErrorCode,
	type SubscriptionFilter,
} from "@modelcontextprotocol/client";
import type { Connection } from "./connection.js";
import { backoff } from "./errors.js";
import { coalesced } from "./received.js";

/** Most subscribed resources of one server. The server may allow fewer. */
const MAX_SUBSCRIPTIONS = 1_000;

/** Milliseconds for which updates of a resource are collected. */
const UPDATE_DELAY = 50;

interface Subscription {
	count: number;
	/** Settles when the server has answered. Undefined after a rejection: the next subscriber asks again. */
	asked: Promise<void> | undefined;
}

/** The subscribed resources of one server. The server gets one subscription per resource, regardless of the number of clients. */
export type Subscriptions = ReturnType<typeof makeSubscriptions>;

/** Makes the subscriptions of a server. `onUpdated` is called when a subscribed resource has been updated. */
export function makeSubscriptions(onUpdated: (uri: string) => void, warn: (message: string) => void) {
	/** Subscriptions by the server's own URI. */
	const subscriptions = new Map<string, Subscription>();
	const changed = new Set<string>();
	let connection: Connection | undefined;

	const askFor = (uri: string, subscription: Subscription): Promise<void> => {
		const ask = async (): Promise<void> => {
			if (connection?.canSubscribe === false) {
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, "the server does not support resource subscriptions");
			}
			await connection?.subscribe(uri);
		};
		const asked = ask();
		subscription.asked = asked;
		asked.catch(() => {
			if (subscription.asked === asked) {
				subscription.asked = undefined;
			}
		});
		return asked;
	};

	/** Called when the server reports an updated resource. Other URIs than subscribed ones are ignored. */
	const updated = (uri: unknown): void => {
		if (typeof uri !== "string" || !subscriptions.has(uri)) {
			return;
		}
		if (changed.size === 0) {
			setTimeout(() => {
				const uris = [...changed];
				changed.clear();
				uris.forEach((each) => void onUpdated(each));
			}, UPDATE_DELAY);
		}
		changed.add(uri);
	};

	return {
		/**
		 * Subscribes a client to a resource, and returns a function that ends it. A server that is offline is asked when it returns. Rejects
		 * with the SDK's ProtocolError if the server rejects it, and with ServerError if it does not answer.
		 */
		async add(uri: string): Promise<() => void> {
			const subscription = subscriptions.get(uri) ?? { count: 0, asked: undefined };
			if (subscription.count === 0 && subscriptions.size >= MAX_SUBSCRIPTIONS) {
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, `too many subscriptions (limit ${MAX_SUBSCRIPTIONS})`);
			}
			subscriptions.set(uri, subscription);
			subscription.count += 1;
			let isRemoved = false;
			const remove = (): void => {
				subscription.count -= isRemoved ? 0 : 1;
				if (!isRemoved && subscription.count === 0) {
					subscriptions.delete(uri);
					if (connection?.canSubscribe) {
						// If it fails, unwanted updates are ignored.
						connection.subscribe(uri, false).catch(() => {});
					}
				}
				isRemoved = true;
			};
			try {
				await (subscription.asked ?? askFor(uri, subscription));
			} catch (error) {
				remove();
				throw error;
			}
			return remove;
		},
		/** Called when the server is online. Renews all subscriptions, and reports their resources as updated. */
		online(current: Connection): void {
			connection = current;
			for (const [uri, subscription] of subscriptions) {
				askFor(uri, subscription).then(
					() => updated(uri),
					({ message }: Error) => warn(`${current.identity.id}: cannot renew the subscription to ${uri}: ${message}`),
				);
			}
		},
		/** Called when the server is offline. */
		offline(): void {
			connection = undefined;
		},
		updated,
	};
}

/** Milliseconds that a server has to confirm the subscription. */
const ACK_TIME = 10_000;

/** Milliseconds that a stream stays open after its successor: what the server sent on it may not have arrived yet. */
const OVERLAP_TIME = 5_000;

/** The delays before a stream that has ended is opened again. */
const BACKOFF = { initialDelay: 1_000, maxDelay: 60_000 };

/** The notifications of a server of 2026-07-28, for the client's handlers: a `subscriptions/listen` stream, reopened at its end. */
export class ChangeStream {
	readonly #client: Client;
	readonly #onGap: () => void;
	readonly #resources = new Set<string>();
	readonly #reopen = coalesced(() => this.#open());
	#subscription: McpSubscription | undefined;
	/** The previous stream. A notification that arrives on both does no harm. */
	#previous: McpSubscription | undefined;
	/** Retries since the stream was last open. 0 unless it is being opened again. */
	#retries = 0;
	#timer: NodeJS.Timeout | undefined;
	#closed = false;

	/** @param onGap called when the stream is open again: changes may have been missed */
	constructor(client: Client, onGap: () => void) {
		this.#client = client;
		this.#onGap = onGap;
	}

	/** Opens the stream if the server reports changes. Settles when the server has confirmed it, or has failed. */
	async start(): Promise<void> {
		await this.#reopen().catch((error: Error) => {
			// A server that rejects the stream once will reject it again.
			if (!ProtocolError.isInstance(error)) {
				this.#retry();
			}
		});
	}

	/** Subscribes to updates of a resource, or unsubscribes. Rejects with ProtocolError, and with SdkError without an answer. */
	async follow(uri: string, wanted: boolean): Promise<void> {
		if (wanted) {
			this.#resources.add(uri);
		} else {
			this.#resources.delete(uri);
		}
		try {
			await this.#reopen();
		} catch (error) {
			this.#resources.delete(uri);
			throw error;
		}
	}

	close(): void {
		this.#closed = true;
		clearTimeout(this.#timer);
		void this.#previous?.close();
		void this.#subscription?.close();
	}

	#filter(): SubscriptionFilter {
		const { tools, prompts, resources } = this.#client.getServerCapabilities() ?? {};
		return {
			...(tools?.listChanged && { toolsListChanged: true }),
			...(prompts?.listChanged && { promptsListChanged: true }),
			...(resources?.listChanged && { resourcesListChanged: true }),
			...(this.#resources.size > 0 && { resourceSubscriptions: [...this.#resources] }),
		};
	}

	/** Opens a stream with the current filter, and closes the previous one only afterwards. */
	async #open(): Promise<void> {
		const filter = this.#filter();
		const isWanted = !this.#closed && Object.keys(filter).length > 0;
		const subscription = isWanted ? await this.#client.listen(filter, { timeout: ACK_TIME }) : undefined;
		// Only now: if opening had failed, the pending retry would still be needed.
		clearTimeout(this.#timer);
		void this.#previous?.close();
		const previous = this.#subscription;
		this.#previous = previous;
		this.#subscription = subscription;
		if (isWanted) {
			setTimeout(() => void previous?.close(), OVERLAP_TIME).unref();
		} else {
			void previous?.close();
		}
		void subscription?.closed.then(() => {
			if (this.#subscription === subscription) {
				this.#retry();
			}
		});
		const wasDown = this.#retries > 0;
		this.#retries = 0;
		if (wasDown && isWanted) {
			this.#onGap();
		}
	}

	#retry(): void {
		if (this.#closed) {
			return;
		}
		clearTimeout(this.#timer);
		this.#timer = setTimeout(() => void this.start(), backoff(BACKOFF, this.#retries)).unref();
		this.#retries += 1;
	}
}
