import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import type { Connection } from "./connection.js";

/** Most subscribed resources of one server. The server may allow fewer. */
const MAX_SUBSCRIPTIONS = 1_000;

/** Milliseconds for which updates of a resource are collected. */
const UPDATE_DELAY = 50;

interface Subscription {
	count: number;
	/** Settles when the server has been asked. Undefined if it has rejected that: the next subscriber asks again. */
	asked: Promise<void> | undefined;
}

/**
 * The subscribed resources of one server. The server gets one subscription per resource, regardless of the number of
 * clients.
 */
export class Subscriptions {
	readonly #onUpdated: (uri: string) => void;
	readonly #warn: (message: string) => void;
	/** By the server's own URI. */
	readonly #subscriptions = new Map<string, Subscription>();
	readonly #updated = new Set<string>();
	#connection: Connection | undefined;
	#timer: NodeJS.Timeout | undefined;

	/**
	 * @param onUpdated called when a resource that clients have subscribed to has been updated
	 * @param warn called if a returning server rejects a subscription
	 */
	constructor(onUpdated: (uri: string) => void, warn: (message: string) => void) {
		this.#onUpdated = onUpdated;
		this.#warn = warn;
	}

	/**
	 * A client subscribes to a resource. A server that is offline is asked when it returns.
	 *
	 * Rejects with the SDK's ProtocolError if the server rejects it, and with ServerError if it does not answer.
	 *
	 * @returns a function that stops it
	 */
	async add(uri: string): Promise<() => void> {
		let subscription = this.#subscriptions.get(uri);
		if (subscription === undefined) {
			if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, `too many subscriptions (limit ${MAX_SUBSCRIPTIONS})`);
			}
			subscription = { count: 0, asked: undefined };
			this.#subscriptions.set(uri, subscription);
		}
		subscription.count += 1;
		let isRemoved = false;
		const remove = (): void => {
			subscription.count -= isRemoved ? 0 : 1;
			if (!isRemoved && subscription.count === 0) {
				this.#subscriptions.delete(uri);
				if (this.#connection?.canSubscribe) {
					// If it fails, unwanted updates are ignored.
					this.#connection.subscribe(uri, false).catch(() => {});
				}
			}
			isRemoved = true;
		};
		try {
			await (subscription.asked ?? this.#askFor(uri, subscription));
		} catch (error) {
			remove();
			throw error;
		}
		return remove;
	}

	/** The server is online: it is asked for everything that clients have subscribed to, which may have changed meanwhile. */
	online(connection: Connection): void {
		this.#connection = connection;
		for (const [uri, subscription] of this.#subscriptions) {
			this.#askFor(uri, subscription).then(
				() => this.updated(uri),
				(error: Error) =>
					this.#warn(`${connection.identity.id}: cannot renew the subscription to ${uri}: ${error.message}`),
			);
		}
	}

	/** The server is offline. */
	offline(): void {
		this.#connection = undefined;
	}

	/** The server says that a resource has been updated. */
	updated(uri: unknown): void {
		if (typeof uri !== "string" || !this.#subscriptions.has(uri)) {
			return;
		}
		this.#updated.add(uri);
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			const uris = [...this.#updated];
			this.#updated.clear();
			for (const each of uris) {
				this.#onUpdated(each);
			}
		}, UPDATE_DELAY);
	}

	#askFor(uri: string, subscription: Subscription): Promise<void> {
		const ask = async (): Promise<void> => {
			if (this.#connection?.canSubscribe === false) {
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, "the server does not support resource subscriptions");
			}
			await this.#connection?.subscribe(uri);
		};
		const asked = ask();
		subscription.asked = asked;
		asked.catch(() => {
			if (subscription.asked === asked) {
				subscription.asked = undefined;
			}
		});
		return asked;
	}
}
