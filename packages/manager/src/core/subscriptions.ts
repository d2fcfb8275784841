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

	/** The server says that a resource has been updated. */
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
		/** The server is online: it is asked for everything that clients have subscribed to, which may have changed meanwhile. */
		online(current: Connection): void {
			connection = current;
			for (const [uri, subscription] of subscriptions) {
				askFor(uri, subscription).then(
					() => updated(uri),
					({ message }: Error) => warn(`${current.identity.id}: cannot renew the subscription to ${uri}: ${message}`),
				);
			}
		},
		/** The server is offline. */
		offline(): void {
			connection = undefined;
		},
		updated,
	};
}
