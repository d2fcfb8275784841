import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { digest, jsonIn, RateLimit } from "xs-mcp-manager/core";
import type { RunningGateway } from "../gateway.js";
import { isRefusedAddress } from "../http/public-request.js";
import type { EventFeed, EventRequest } from "./event-feed.js";
import type { EventService } from "./event-service.js";
import { callbackFailed, exhausted, forbidden, invalid, type Viewer } from "./event-types.js";
import {
	bytesOfSecret,
	controlMessage,
	makeDelivery,
	type PostAnswer,
	post,
	problemOfStatus,
	type WebhookDelivery,
	type WebhookMessage,
} from "./webhook-delivery.js";
import type { WebhookRecord, WebhookStore } from "./webhook-store.js";

/** Subscriptions of one token, and in all. */
const MAX_PER_HOLDER = 50;
const MAX_SUBSCRIPTIONS = 1_000;

/** Milliseconds that a subscription lasts: at least, unless the client says, and at most. */
const MIN_TTL = 60_000;
const DEFAULT_TTL = 3_600_000;
const MAX_TTL = 86_400_000;

/** Milliseconds for which messages are signed with the secret before, too. */
const GRACE = 300_000;

/** Endpoints that are verified in a second for one token, so that it cannot use this gateway to flood others. */
const MAX_VERIFIED_PER_SECOND = 10;

const MAX_URL = 2_048;

/** The identity of a subscription: SEP-3415, "Subscription Identity". */
type WebhookIdentity = Pick<WebhookRecord, "holder" | "name" | "arguments" | "url"> & Pick<Viewer, "server">;

/** A client's request: SEP-3415, `events/subscribe`. */
interface WebhookRequest extends WebhookIdentity, Viewer, Pick<EventRequest, "cursor" | "maxAgeMs"> {
	readonly secret: string;
	readonly ttlMs?: number | null | undefined;
}

/** A subscription as its owner sees it: without its secret. */
export interface WebhookSummary extends Pick<WebhookRecord, "name" | "arguments" | "url"> {
	/** Milliseconds since 1970. */
	readonly until: number;
}

interface Subscription {
	record: WebhookRecord;
	/** Undefined: another gateway delivers it. */
	delivery?: WebhookDelivery | undefined;
	/** The secret before, until when it signs as well. */
	previous?: { readonly secret: string; readonly until: number };
}

/** The subscriptions whose events are posted to URLs. */
export type Webhooks = ReturnType<typeof makeWebhooks>;

/** Makes the subscriptions of a gateway, and continues those that are stored. */
export function makeWebhooks(gateway: RunningGateway, service: EventService, store: WebhookStore) {
	const subscriptions = new Map<string, Subscription>();
	/** Rate limits by the token's hash. */
	const verifications = new LRUCache<string, RateLimit>({
		max: MAX_SUBSCRIPTIONS,
		memoMethod: () => new RateLimit(MAX_VERIFIED_PER_SECOND),
	});
	let dropped = 0;

	const warn = (message: string): void => gateway.limitedLog.warn("events", {}, message);

	/** Whether the operator allows a host at a private address, and without TLS. */
	const isTrusted = ({ host }: URL): boolean => gateway.settings.webhookHosts.includes(host);

	const postTo = (endpoint: Pick<WebhookRecord, "id" | "url">, message: WebhookMessage, secrets: readonly string[]) =>
		post(endpoint, message, secrets, gateway.resolve, isTrusted(new URL(endpoint.url)));

	const send = ({ record, previous }: Subscription, message: WebhookMessage) => {
		const old = previous !== undefined && previous.until > Date.now() ? [previous.secret] : [];
		return postTo(record, message, [record.secret, ...old]);
	};

	const stop = (subscription: Subscription): void => {
		subscription.delivery?.stop();
		subscription.delivery = undefined;
	};

	const remove = (subscription: Subscription): void => {
		stop(subscription);
		subscriptions.delete(subscription.record.id);
	};

	/** Rejects if that cannot be stored. */
	const end = async (subscription: Subscription): Promise<void> => {
		remove(subscription);
		await store.remove(subscription.record.id);
	};

	const start = (subscription: Subscription, feed: EventFeed): void => {
		const { id } = subscription.record;
		const delivery = makeDelivery(feed, (message) => send(subscription, message), {
			onMoved: (cursor) => {
				if (cursor !== subscription.record.cursor) {
					subscription.record = { ...subscription.record, cursor };
					store.moved(id, cursor);
				}
			},
			onGone: () => void end(subscription).catch(() => {}),
			onGivenUp: (problem, isFirst) => {
				dropped += 1;
				if (isFirst) {
					warn(`webhook ${id}: an event was given up: ${problem}`);
				}
			},
		});
		subscription.delivery = delivery;
		delivery.run().catch((error: Error) => warn(`webhook ${id}: ${error.message}`));
	};

	/** Starts a delivery where it was. */
	const resume = (subscription: Subscription): void => {
		try {
			start(subscription, service.feedOf(subscription.record));
		} catch (error) {
			warn(`webhook ${subscription.record.id} has ended: ${(error as Error).message}`);
			end(subscription).catch(() => {});
		}
	};

	/** Takes the new secret and expiry. The position is the deliverer's. */
	const change = (known: Subscription, { secret, expires }: WebhookRecord): void => {
		const { record, delivery } = known;
		if (secret !== record.secret) {
			known.previous = { secret: record.secret, until: Date.now() + GRACE };
		}
		known.record = { ...record, secret, expires };
		if (expires !== record.expires) {
			delivery?.retry();
		}
	};

	/** @throws ProtocolError */
	const check = ({ url, secret }: WebhookRequest): void => {
		const parsed = url.length <= MAX_URL && URL.canParse(url) ? new URL(url) : undefined;
		const mayBeHttp = parsed?.protocol === "http:" && isTrusted(parsed);
		if (parsed === undefined || !(parsed.protocol === "https:" || mayBeHttp)) {
			throw invalid("delivery.url: expected an https URL");
		}
		if (`${parsed.username}${parsed.password}${parsed.hash}` !== "") {
			throw invalid("delivery.url: expected a URL without credentials and fragment");
		}
		if (bytesOfSecret(secret) === undefined) {
			throw invalid("delivery.secret: expected whsec_ and the base64 of 24 to 64 bytes");
		}
	};

	/** Returns the subscriptions of a token. @throws ProtocolError if it, or the gateway, may have no more */
	const checkRoom = (holder: string): readonly Subscription[] => {
		const own = [...subscriptions.values()].filter(({ record }) => record.holder === holder);
		if (own.length >= MAX_PER_HOLDER || subscriptions.size >= MAX_SUBSCRIPTIONS) {
			throw exhausted("subscriptions", own.length >= MAX_PER_HOLDER ? MAX_PER_HOLDER : MAX_SUBSCRIPTIONS);
		}
		return own;
	};

	/** @throws ProtocolError at too high a rate */
	const countVerification = (holder: string): void => {
		if (!verifications.memo(holder).take()) {
			throw exhausted("verifications a second", MAX_VERIFIED_PER_SECOND);
		}
	};

	/** Checks that the endpoint wants these messages: a client may name a stranger's. Rejects with ProtocolError. */
	const verify = async (holder: string, endpoint: Pick<WebhookRecord, "id" | "url" | "secret">): Promise<void> => {
		const url = new URL(endpoint.url);
		if (!isTrusted(url) && isRefusedAddress(url, {})) {
			throw callbackFailed("connection_refused");
		}
		countVerification(holder);
		const challenge = randomBytes(24).toString("base64url");
		const message = controlMessage("verification", { challenge });
		const answer = await postTo(endpoint, message, [endpoint.secret]);
		const problem = "problem" in answer ? answer.problem : problemOfStatus(answer.status);
		if (problem !== undefined || !("body" in answer)) {
			throw callbackFailed(problem ?? "challenge_failed");
		}
		const answered = jsonIn(answer.body) as { readonly challenge?: unknown } | null | undefined;
		if (answered?.challenge !== challenge) {
			throw callbackFailed("challenge_failed");
		}
	};

	store.on("warning", warn);
	store.on("record", (record, isOurs) => {
		const subscription = subscriptions.get(record.id) ?? { record };
		subscriptions.set(record.id, subscription);
		change(subscription, record);
		if (isOurs && subscription.delivery === undefined) {
			subscription.record = record;
			resume(subscription);
		} else if (!isOurs) {
			stop(subscription);
		}
	});
	store.on("removed", (id) => {
		const subscription = subscriptions.get(id);
		if (subscription !== undefined) {
			remove(subscription);
		}
	});
	store.open();

	return {
		/** Events that were given up, because an endpoint did not accept them. */
		get dropped() {
			return dropped;
		},
		/** Starts a subscription, or renews it. Rejects with ProtocolError. */
		async subscribe(request: WebhookRequest) {
			const { holder, server, name, arguments: args, url, secret } = request;
			const id = idOf(request);
			const feed = service.feed(request, request);
			let subscription: Subscription | undefined;
			try {
				check(request);
				const ttl = request.ttlMs ?? (request.ttlMs === null ? MAX_TTL : DEFAULT_TTL);
				const expires = Date.now() + Math.min(Math.max(ttl, MIN_TTL), MAX_TTL);
				const refreshBefore = new Date(expires).toISOString();
				const known = subscriptions.get(id);
				if (known !== undefined) {
					feed.close();
					const { status: deliveryStatus } = known.delivery ?? {};
					change(known, { ...known.record, secret, expires });
					await store.put(known.record);
					const { cursor } = known.record;
					return { id, refreshBefore, cursor, truncated: false, ...(deliveryStatus && { deliveryStatus }) };
				}
				if (!checkRoom(holder).some(({ record }) => record.url === url)) {
					await verify(holder, { id, url, secret });
					checkRoom(holder);
				}
				const truncated = feed.takeTruncated();
				const { cursor } = feed;
				const record = { id, holder, server, name, arguments: args, url, secret, cursor, expires };
				subscription = { record };
				subscriptions.set(id, subscription);
				start(subscription, feed);
				await store.put(record);
				return { id, refreshBefore, cursor, truncated };
			} catch (error) {
				feed.close();
				if (subscription !== undefined) {
					remove(subscription);
				}
				throw error;
			}
		},
		/** Ends a subscription, if there is one. */
		async unsubscribe(request: WebhookIdentity): Promise<void> {
			const found = subscriptions.get(idOf(request));
			await (found && end(found));
		},
		/** Returns the subscriptions of a token at the endpoint of all devices. */
		of: (holder: string): readonly WebhookSummary[] =>
			[...subscriptions.values()].flatMap(({ record: { name, arguments: args, url, expires, ...record } }) =>
				record.holder === holder && record.server === undefined ? [{ name, arguments: args, url, until: expires }] : [],
			),
		/**
		 * Posts an example to the endpoint of a subscription: an event with data that says `test`.
		 *
		 * @returns undefined if there is no such subscription. Rejects with ProtocolError at too high a rate
		 */
		async test(request: WebhookIdentity): Promise<PostAnswer | undefined> {
			const found = subscriptions.get(idOf(request));
			if (found === undefined) {
				return undefined;
			}
			countVerification(request.holder);
			const { name, cursor, arguments: args } = found.record;
			const eventId = `evt_test_${randomBytes(12).toString("hex")}`;
			const body = { eventId, name, timestamp: new Date().toISOString(), data: { ...args, test: true }, cursor };
			return await send(found, { id: eventId, body });
		},
		/** Ends subscriptions that were not renewed, or whose token was removed, and notifies their endpoints. Call it periodically. */
		recheck(): void {
			for (const subscription of [...subscriptions.values()]) {
				const { record, delivery } = subscription;
				const isRevoked = service.accessOf(record.holder) === undefined;
				const isExpired = record.expires <= Date.now();
				if (delivery === undefined || !(isExpired || isRevoked)) {
					continue;
				}
				end(subscription).catch(() => {});
				if (!isExpired) {
					const { code, message } = forbidden("the access was revoked");
					void send(subscription, controlMessage("terminated", { error: { code, message } }));
				}
			}
		},
		/** Stops the deliveries. The next process continues them, or another gateway. */
		close(): void {
			subscriptions.forEach(stop);
			store.close();
		},
	};
}

function idOf({ holder, server, url, name, arguments: args }: WebhookIdentity): string {
	const sorted = Object.entries(args).sort(([one], [other]) => (one < other ? -1 : 1));
	const key = JSON.stringify([holder, server ?? null, url, name, sorted]);
	return `sub_${digest(key).slice(0, 32)}`;
}
