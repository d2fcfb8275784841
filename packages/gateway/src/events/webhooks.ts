import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { digest, jsonIn, RateLimit } from "xs-mcp-manager/core";
import type { RunningGateway } from "../gateway.js";
import { isRefusedAddress } from "../http/public-request.js";
import type { EventFeed, EventRequest } from "./event-feed.js";
import type { EventService } from "./event-service.js";
import { type CommonArguments, callbackFailed, exhausted, forbidden, invalid, type Viewer } from "./event-types.js";
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
export interface WebhookIdentity {
	readonly holder: string;
	readonly server: string | undefined;
	readonly name: string;
	readonly arguments: CommonArguments;
	readonly url: string;
}

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
	feed?: EventFeed;
	delivery?: WebhookDelivery;
	/** The secret before, until when it signs as well. */
	previous?: { readonly secret: string; readonly until: number };
}

/** The subscriptions whose events are posted to URLs. */
export class Webhooks {
	readonly #gateway: RunningGateway;
	readonly #service: EventService;
	readonly #subscriptions = new Map<string, Subscription>();
	/** Rate limits by the token's hash. */
	readonly #verifications = new LRUCache<string, RateLimit>({ max: MAX_SUBSCRIPTIONS });
	/** Events that were given up, because an endpoint did not accept them. */
	dropped = 0;
	/** Undefined: they are stored nowhere. */
	#store: WebhookStore | undefined;

	constructor(gateway: RunningGateway, service: EventService) {
		this.#gateway = gateway;
		this.#service = service;
	}

	/** Goes on with the subscriptions that are stored. */
	open(store: WebhookStore): void {
		this.#store = store;
		store.on("warning", (message) => this.#warn(message));
		store.on("record", (record, isOurs) => {
			const subscription = this.#subscriptions.get(record.id) ?? { record };
			this.#subscriptions.set(record.id, subscription);
			this.#change(subscription, record);
			if (isOurs && subscription.delivery === undefined) {
				subscription.record = record;
				this.#start(subscription);
			} else if (!isOurs) {
				this.#stop(subscription);
			}
		});
		store.on("removed", (id) => {
			const subscription = this.#subscriptions.get(id);
			if (subscription !== undefined) {
				this.#stop(subscription);
				this.#subscriptions.delete(id);
			}
		});
		store.open();
	}

	/** Starts a subscription, or renews it. Rejects with ProtocolError. */
	async subscribe(request: WebhookRequest) {
		const { holder, server, name, arguments: args, url, secret } = request;
		const id = idOf(request);
		const feed = this.#service.feed(request, request);
		let subscription: Subscription | undefined;
		try {
			this.#check(request);
			const ttl = request.ttlMs ?? (request.ttlMs === null ? MAX_TTL : DEFAULT_TTL);
			const expires = Date.now() + Math.min(Math.max(ttl, MIN_TTL), MAX_TTL);
			const refreshBefore = new Date(expires).toISOString();
			const known = this.#subscriptions.get(id);
			if (known !== undefined) {
				feed.close();
				const { status: deliveryStatus } = known.delivery ?? {};
				this.#change(known, { ...known.record, secret, expires });
				await this.#store?.put(known.record);
				const { cursor } = known.record;
				return { id, refreshBefore, cursor, truncated: false, ...(deliveryStatus && { deliveryStatus }) };
			}
			this.#checkRoom(holder);
			if (![...this.#subscriptions.values()].some(({ record }) => record.holder === holder && record.url === url)) {
				await this.#verify(holder, { id, url, secret });
				this.#checkRoom(holder);
			}
			const truncated = feed.takeTruncated();
			const { cursor } = feed;
			const record = { id, holder, server, name, arguments: args, url, secret, cursor, expires };
			subscription = { record };
			this.#subscriptions.set(id, subscription);
			this.#start(subscription, feed);
			await this.#store?.put(record);
			return { id, refreshBefore, cursor, truncated };
		} catch (error) {
			feed.close();
			if (subscription !== undefined) {
				this.#stop(subscription);
				this.#subscriptions.delete(id);
			}
			throw error;
		}
	}

	/** Ends a subscription, if there is one. */
	async unsubscribe(request: WebhookIdentity): Promise<void> {
		const found = this.#subscriptions.get(idOf(request));
		await (found && this.#end(found));
	}

	/** The subscriptions of a token at the endpoint of all devices. */
	of(holder: string): readonly WebhookSummary[] {
		return [...this.#subscriptions.values()].flatMap(
			({ record: { name, arguments: args, url, expires, ...record } }) =>
				record.holder === holder && record.server === undefined ? [{ name, arguments: args, url, until: expires }] : [],
		);
	}

	/**
	 * Posts an example to the endpoint of a subscription: an event with data that says `test`.
	 *
	 * @returns undefined if there is no such subscription. Rejects with ProtocolError at too high a rate
	 */
	async test(request: WebhookIdentity): Promise<PostAnswer | undefined> {
		const found = this.#subscriptions.get(idOf(request));
		if (found === undefined) {
			return undefined;
		}
		this.#countVerification(request.holder);
		const { name, cursor, arguments: args } = found.record;
		const eventId = `evt_test_${randomBytes(12).toString("hex")}`;
		const body = { eventId, name, timestamp: new Date().toISOString(), data: { ...args, test: true }, cursor };
		return await this.#send(found, { id: eventId, body });
	}

	/** Ends subscriptions that were not renewed, or whose token was removed, and notifies their endpoints. Call it periodically. */
	recheck(): void {
		for (const subscription of [...this.#subscriptions.values()]) {
			const { record, delivery } = subscription;
			const isRevoked = this.#service.accessOf(record.holder) === undefined;
			const isExpired = record.expires <= Date.now();
			if (delivery === undefined || !(isExpired || isRevoked)) {
				continue;
			}
			this.#end(subscription).catch(() => {});
			if (!isExpired) {
				const { code, message } = forbidden("the access was revoked");
				void this.#send(subscription, controlMessage("terminated", { error: { code, message } }));
			}
		}
	}

	/** Stops the deliveries. The next process continues them, or another gateway. */
	close(): void {
		for (const { delivery } of this.#subscriptions.values()) {
			delivery?.stop();
		}
		this.#store?.close();
	}

	/** Takes the new secret and expiry. The position is the deliverer's. */
	#change(known: Subscription, { secret, expires }: WebhookRecord): void {
		const { record, delivery } = known;
		if (secret !== record.secret) {
			known.previous = { secret: record.secret, until: Date.now() + GRACE };
		}
		known.record = { ...record, secret, expires };
		if (expires !== record.expires) {
			delivery?.retry();
		}
	}

	#check({ url, secret }: WebhookRequest): void {
		const parsed = url.length <= MAX_URL && URL.canParse(url) ? new URL(url) : undefined;
		const isTrusted = parsed !== undefined && this.#isTrusted(parsed);
		if (parsed === undefined || !(parsed.protocol === "https:" || (isTrusted && parsed.protocol === "http:"))) {
			throw invalid("delivery.url: expected an https URL");
		}
		if (`${parsed.username}${parsed.password}${parsed.hash}` !== "") {
			throw invalid("delivery.url: expected a URL without credentials and fragment");
		}
		if (bytesOfSecret(secret) === undefined) {
			throw invalid("delivery.secret: expected whsec_ and the base64 of 24 to 64 bytes");
		}
	}

	#checkRoom(holder: string): void {
		const own = [...this.#subscriptions.values()].filter(({ record }) => record.holder === holder);
		if (own.length >= MAX_PER_HOLDER) {
			throw exhausted("subscriptions", MAX_PER_HOLDER);
		}
		if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
			throw exhausted("subscriptions", MAX_SUBSCRIPTIONS);
		}
	}

	/** Checks that the endpoint wants these messages: a client may name a stranger's. Rejects with ProtocolError. */
	async #verify(holder: string, endpoint: Pick<WebhookRecord, "id" | "url" | "secret">): Promise<void> {
		const url = new URL(endpoint.url);
		if (!this.#isTrusted(url) && isRefusedAddress(url, {})) {
			throw callbackFailed("connection_refused");
		}
		this.#countVerification(holder);
		const challenge = randomBytes(24).toString("base64url");
		const message = controlMessage("verification", { challenge });
		const answer = await this.#post(endpoint, message, [endpoint.secret]);
		const problem = "problem" in answer ? answer.problem : problemOfStatus(answer.status);
		if (problem !== undefined || !("body" in answer)) {
			throw callbackFailed(problem ?? "challenge_failed");
		}
		const answered = jsonIn(answer.body) as { readonly challenge?: unknown } | null | undefined;
		if (answered?.challenge !== challenge) {
			throw callbackFailed("challenge_failed");
		}
	}

	/** @throws ProtocolError at too high a rate */
	#countVerification(holder: string): void {
		const limit = this.#verifications.get(holder) ?? new RateLimit(MAX_VERIFIED_PER_SECOND);
		this.#verifications.set(holder, limit);
		if (!limit.take()) {
			throw exhausted("verifications a second", MAX_VERIFIED_PER_SECOND);
		}
	}

	/** @param begun of a subscription that has just begun */
	#start(subscription: Subscription, begun?: EventFeed): void {
		const { record } = subscription;
		let feed: EventFeed;
		try {
			feed = begun ?? this.#service.feedOf(record);
		} catch (error) {
			this.#warn(`webhook ${record.id} has ended: ${(error as Error).message}`);
			this.#end(subscription).catch(() => {});
			return;
		}
		const delivery = makeDelivery(feed, (message) => this.#send(subscription, message), {
			onMoved: (cursor) => {
				if (cursor !== subscription.record.cursor) {
					subscription.record = { ...subscription.record, cursor };
					this.#store?.moved(record.id, cursor);
				}
			},
			onGone: () => void this.#end(subscription).catch(() => {}),
			onGivenUp: (problem, isFirst) => {
				this.dropped += 1;
				if (isFirst) {
					this.#warn(`webhook ${record.id}: an event was given up: ${problem}`);
				}
			},
		});
		subscription.feed = feed;
		subscription.delivery = delivery;
		delivery.run().catch((error: Error) => this.#warn(`webhook ${record.id}: ${error.message}`));
	}

	/** Rejects if that cannot be stored. */
	async #end(subscription: Subscription): Promise<void> {
		const { id } = subscription.record;
		this.#stop(subscription);
		this.#subscriptions.delete(id);
		await this.#store?.remove(id);
	}

	#stop(subscription: Subscription): void {
		const { feed, delivery } = subscription;
		delivery?.stop();
		feed?.close();
		delete subscription.feed;
		delete subscription.delivery;
	}

	#send({ record, previous }: Subscription, message: WebhookMessage) {
		const old = previous !== undefined && previous.until > Date.now() ? [previous.secret] : [];
		return this.#post(record, message, [record.secret, ...old]);
	}

	#post(endpoint: Pick<WebhookRecord, "id" | "url">, message: WebhookMessage, secrets: readonly string[]) {
		return post(endpoint, message, secrets, this.#gateway.resolve, this.#isTrusted(new URL(endpoint.url)));
	}

	/** Whether the operator allows a host at a private address, and without TLS. */
	#isTrusted({ host }: URL): boolean {
		return this.#gateway.settings.webhookHosts.includes(host);
	}

	#warn(message: string): void {
		this.#gateway.limitedLog.warn("events", {}, message);
	}
}

function idOf({ holder, server, url, name, arguments: args }: WebhookIdentity): string {
	const sorted = Object.entries(args).sort(([one], [other]) => (one < other ? -1 : 1));
	const key = JSON.stringify([holder, server ?? null, url, name, sorted]);
	return `sub_${digest(key).slice(0, 32)}`;
}
