import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { RateLimit } from "xs-mcp-manager/core";
import { replaceFile } from "../config/atomic-file.js";
import { type CallbackProblem, callbackFailed, exhausted, forbidden, invalid } from "./event-error.js";
import type { EventFeed } from "./event-feed.js";
import type { CommonArguments } from "./event-types.js";
import { controlMessage, type DeliveryStatus, WebhookDelivery } from "./webhook-delivery.js";
import { readWebhooks, type WebhookRecord } from "./webhook-file.js";
import { bytesOfSecret, type PostOptions, post, problemOfStatus, type WebhookMessage } from "./webhook-post.js";

/** Subscriptions of one token, and in all. */
const MAX_PER_HOLDER = 50;
const MAX_SUBSCRIPTIONS = 1_000;

/** Milliseconds that a subscription lasts: at least, unless the client says, and at most. */
const MIN_TTL = 60_000;
const DEFAULT_TTL = 3_600_000;
const MAX_TTL = 86_400_000;

/** Milliseconds for which messages are signed with the secret before, too. */
const GRACE = 300_000;

/** Milliseconds between two writes of how far subscriptions are. A process that is killed repeats what came since. */
const SAVE_INTERVAL = 1_000;

/** Endpoints that are verified in a second: nobody can have this gateway flood others. */
const MAX_VERIFIED_PER_SECOND = 10;

const MAX_URL = 2_048;

export interface WebhooksOptions extends PostOptions {
	/** Where subscriptions are stored. Default: nowhere. */
	readonly folder?: string | undefined;
	/** Hosts, with their ports, that may be at private addresses and without TLS. Default: none. */
	readonly trustedHosts?: readonly string[] | undefined;
	/** The events of a stored subscription. @throws ProtocolError if its type or its arguments are not valid any more */
	readonly feedOf: (record: WebhookRecord) => EventFeed;
	/** Whether the token of a subscription is valid. */
	readonly isValid: (record: WebhookRecord) => boolean;
	/** Is told of each attempt to store subscriptions. */
	readonly watch: (write: Promise<void>) => Promise<void>;
	readonly onWarning: (message: string) => void;
}

/** What a client asks for: SEP-3415, `events/subscribe`. */
export interface WebhookRequest {
	readonly holder: string;
	readonly server: string | undefined;
	readonly name: string;
	readonly arguments: CommonArguments;
	readonly url: string;
	readonly secret: string;
	readonly ttlMs: number | null | undefined;
	/** Where a new subscription begins. */
	readonly feed: EventFeed;
}

export interface SubscribeResult {
	readonly id: string;
	readonly refreshBefore: string;
	readonly cursor: string;
	readonly truncated: boolean;
	readonly deliveryStatus?: DeliveryStatus;
}

interface Subscription {
	record: WebhookRecord;
	readonly feed: EventFeed;
	readonly delivery: WebhookDelivery;
	/** The secret before, until when it signs as well. */
	previous?: { readonly secret: string; readonly until: number };
}

/** The subscriptions whose events are posted to URLs. They outlive the process. */
export class Webhooks {
	readonly #options: WebhooksOptions;
	/** By id. */
	readonly #subscriptions = new Map<string, Subscription>();
	readonly #verifications = new RateLimit(MAX_VERIFIED_PER_SECOND);
	#saveTimer: NodeJS.Timeout | undefined;
	#saving: Promise<void> = Promise.resolve();

	/** Goes on with the subscriptions that are stored. */
	constructor(options: WebhooksOptions) {
		this.#options = options;
		for (const record of this.#read()) {
			this.#start(record);
		}
	}

	get size(): number {
		return this.#subscriptions.size;
	}

	/** Begins a subscription, or renews it. Rejects with ProtocolError. */
	async subscribe(request: WebhookRequest): Promise<SubscribeResult> {
		try {
			return await this.#subscribe(request);
		} catch (error) {
			request.feed.close();
			throw error;
		}
	}

	async #subscribe(request: WebhookRequest): Promise<SubscribeResult> {
		const { holder, server, name, arguments: args, url, secret, feed } = request;
		this.#check(request);
		const id = idOf(request);
		const expires =
			Date.now() +
			Math.min(Math.max(request.ttlMs ?? (request.ttlMs === null ? MAX_TTL : DEFAULT_TTL), MIN_TTL), MAX_TTL);
		const known = this.#subscriptions.get(id);
		if (known !== undefined) {
			feed.close();
			return await this.#renew(known, secret, expires);
		}
		this.#checkRoom(holder);
		await feed.ready;
		if (![...this.#subscriptions.values()].some(({ record }) => record.holder === holder && record.url === url)) {
			await this.#verify({ id, url, secret });
			this.#checkRoom(holder);
		}
		const truncated = feed.takeTruncated();
		const { cursor } = feed;
		const record = {
			id,
			holder,
			...(server !== undefined && { server }),
			name,
			arguments: args,
			url,
			secret,
			cursor,
			expires,
		};
		this.#start(record, feed);
		await this.#save();
		return { id, refreshBefore: new Date(expires).toISOString(), cursor, truncated };
	}

	/** Ends a subscription. Returns whether there was one. */
	async unsubscribe(
		request: Pick<WebhookRequest, "holder" | "server" | "name" | "arguments" | "url">,
	): Promise<boolean> {
		const found = this.#subscriptions.get(idOf(request));
		if (found === undefined) {
			return false;
		}
		this.#end(found);
		await this.#save();
		return true;
	}

	/** Ends subscriptions that were not renewed, or whose token was removed: their endpoints are told. To be called again and again. */
	recheck(): void {
		for (const subscription of [...this.#subscriptions.values()]) {
			const { record } = subscription;
			if (record.expires <= Date.now()) {
				this.#end(subscription);
				this.#saveSoon();
			} else if (!this.#options.isValid(record)) {
				this.#end(subscription);
				this.#saveSoon();
				const { code, message } = forbidden("the access was revoked");
				void this.#send(subscription, controlMessage("terminated", { error: { code, message } }));
			}
		}
	}

	/** Stops to deliver. The next process goes on. */
	async close(): Promise<void> {
		for (const { delivery } of this.#subscriptions.values()) {
			delivery.stop();
		}
		clearTimeout(this.#saveTimer);
		await this.#save().catch(() => {});
	}

	#read(): WebhookRecord[] {
		const { folder, onWarning } = this.#options;
		if (folder === undefined) {
			return [];
		}
		const path = this.#path(folder);
		try {
			return readWebhooks(path).filter(({ expires }) => expires > Date.now());
		} catch (error) {
			onWarning(`${path}: damaged, so its subscriptions to events have ended: ${(error as Error).message}`);
			return [];
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
		if (this.size >= MAX_SUBSCRIPTIONS) {
			throw exhausted("subscriptions", MAX_SUBSCRIPTIONS);
		}
	}

	/** Whether the endpoint wants these messages: whoever subscribes may name somebody else's. Rejects with ProtocolError. */
	async #verify(endpoint: Pick<WebhookRecord, "id" | "url" | "secret">): Promise<void> {
		if (!this.#verifications.take()) {
			throw exhausted("verifications a second", MAX_VERIFIED_PER_SECOND);
		}
		const challenge = randomBytes(24).toString("base64url");
		const message = controlMessage("verification", { challenge });
		const answer = await post(endpoint, message, [endpoint.secret], this.#postOptions(endpoint.url));
		const problem =
			"problem" in answer
				? answer.problem
				: (problemOfStatus(answer.status) ?? failedChallenge(answer.body, challenge));
		if (problem !== undefined) {
			throw callbackFailed(problem);
		}
	}

	async #renew(known: Subscription, secret: string, expires: number): Promise<SubscribeResult> {
		const { record, delivery } = known;
		if (secret !== record.secret) {
			known.previous = { secret: record.secret, until: Date.now() + GRACE };
		}
		known.record = { ...record, secret, expires };
		const deliveryStatus = delivery.status;
		delivery.retry();
		await this.#save();
		const { id, cursor } = known.record;
		return { id, refreshBefore: new Date(expires).toISOString(), cursor, truncated: false, deliveryStatus };
	}

	/** @param begun of a subscription that has just begun */
	#start(record: WebhookRecord, begun?: EventFeed): void {
		let feed: EventFeed;
		try {
			feed = begun ?? this.#options.feedOf(record);
		} catch (error) {
			this.#options.onWarning(`webhook ${record.id} has ended: ${(error as Error).message}`);
			return;
		}
		const delivery = new WebhookDelivery({
			feed,
			send: (message) => this.#send(subscription, message),
			onMoved: (cursor) => {
				if (cursor !== subscription.record.cursor) {
					subscription.record = { ...subscription.record, cursor };
					this.#saveSoon();
				}
			},
			onGone: () => {
				this.#end(subscription);
				this.#saveSoon();
			},
		});
		const subscription: Subscription = { record, feed, delivery };
		this.#subscriptions.set(record.id, subscription);
		delivery.run().catch((error: Error) => this.#options.onWarning(`webhook ${record.id}: ${error.message}`));
	}

	#end({ record: { id }, feed, delivery }: Subscription): void {
		delivery.stop();
		feed.close();
		this.#subscriptions.delete(id);
	}

	#send({ record, previous }: Subscription, message: WebhookMessage) {
		const old = previous !== undefined && previous.until > Date.now() ? [previous.secret] : [];
		return post(record, message, [record.secret, ...old], this.#postOptions(record.url));
	}

	#postOptions(url: string): PostOptions {
		return this.#isTrusted(new URL(url)) ? { ...this.#options, mayConnect: () => true } : this.#options;
	}

	#isTrusted({ host }: URL): boolean {
		return this.#options.trustedHosts?.includes(host) === true;
	}

	#saveSoon(): void {
		this.#saveTimer ??= setTimeout(() => {
			this.#saveTimer = undefined;
			this.#save().catch(() => {});
		}, SAVE_INTERVAL).unref();
	}

	/** Rejects if the disk cannot be written. One write after the other. */
	#save(): Promise<void> {
		const { folder, watch } = this.#options;
		if (folder === undefined) {
			return Promise.resolve();
		}
		const write = (): Promise<void> => {
			const records = [...this.#subscriptions.values()].map(({ record }) => record);
			return watch(replaceFile(this.#path(folder), JSON.stringify(records)));
		};
		this.#saving = this.#saving.then(write, write);
		return this.#saving;
	}

	#path(folder: string): string {
		return join(folder, "webhooks.json");
	}
}

/** The same for the same client, endpoint, type and arguments: SEP-3415, "Subscription Identity". */
function idOf({
	holder,
	server,
	url,
	name,
	arguments: args,
}: Pick<WebhookRequest, "holder" | "server" | "url" | "name" | "arguments">): string {
	const sorted = Object.entries(args).sort(([one], [other]) => (one < other ? -1 : 1));
	const key = JSON.stringify([holder, server ?? null, url, name, sorted]);
	return `sub_${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}

function failedChallenge(body: string, challenge: string): CallbackProblem | undefined {
	let answered: unknown;
	try {
		answered = (JSON.parse(body) as { readonly challenge?: unknown } | null)?.challenge;
	} catch {
		return "challenge_failed";
	}
	const [given, expected] = [Buffer.from(`${answered}`), Buffer.from(challenge)];
	return given.length === expected.length && timingSafeEqual(given, expected) ? undefined : "challenge_failed";
}
