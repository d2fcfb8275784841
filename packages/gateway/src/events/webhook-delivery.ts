import { createHmac, randomBytes } from "node:crypto";
import type { LookupFunction } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { requestPublic } from "../http/public-request.js";
import type { EventFeed } from "./event-feed.js";
import type { CallbackProblem } from "./event-types.js";

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
	onMoved(cursor: string): void;
	/** The endpoint wants no more messages. */
	onGone(): void;
	/** An event is given up. `isFirst`: the endpoint had accepted the event before. */
	onGivenUp(problem: CallbackProblem, isFirst: boolean): void;
}

/** The delivery of the events of one subscription. */
export type WebhookDelivery = ReturnType<typeof makeDelivery>;

/**
 * Delivers the events of one subscription in order. The next one is sent once the endpoint has accepted the one before, or
 * that one is given up. An event may arrive twice.
 */
export function makeDelivery(
	feed: EventFeed,
	send: (message: WebhookMessage) => Promise<PostAnswer>,
	{ onMoved, onGone, onGivenUp }: DeliveryEvents,
) {
	const ended = new AbortController();
	let retryNow = new AbortController();
	let lastDeliveryAt: string | null = null;
	let lastError: CallbackProblem | null = null;
	let failedSince: string | undefined;

	/** Ends the delivery. A message in progress may still arrive. */
	const stop = (): void => {
		ended.abort();
		retryNow.abort();
		feed.close();
	};

	/** Resolves once the endpoint has accepted the message, or with the problem for which it is given up. */
	const deliver = async (message: WebhookMessage): Promise<CallbackProblem | undefined> => {
		let pause = FIRST_PAUSE;
		for (let attempt = 1; !ended.signal.aborted; attempt += 1) {
			const answer = await send(message);
			const status = "status" in answer ? answer.status : 0;
			const problem = "status" in answer ? problemOfStatus(answer.status) : answer.problem;
			lastError = problem ?? null;
			if (problem === undefined) {
				lastDeliveryAt = new Date().toISOString();
				failedSince = undefined;
				return undefined;
			}
			failedSince ??= new Date().toISOString();
			if (status === GONE) {
				stop();
				onGone();
				return undefined;
			}
			if (status === TOO_LARGE || attempt === MAX_ATTEMPTS) {
				return problem;
			}
			// Endpoints that fail together are not all tried at the same moment.
			const wait = pause * (0.75 + Math.random() / 2);
			pause *= PAUSE_FACTOR;
			await delay(wait, undefined, { signal: retryNow.signal }).catch(() => {});
		}
		return undefined;
	};

	return {
		/** The state of the delivery: SEP-3415, "Webhook Delivery Status". */
		get status() {
			return { active: true, lastDeliveryAt, lastError, failedSince };
		},
		/** Delivers until `stop` is called. Rejects with what is a fault of the gateway. */
		async run(): Promise<void> {
			/** Whether events are being dropped, and whether the endpoint does not know of a gap yet. */
			let [isLosing, hasGap] = [false, false];
			while (!ended.signal.aborted) {
				if (feed.takeTruncated() || hasGap) {
					hasGap = false;
					await deliver(controlMessage("gap", { cursor: feed.cursor }));
				}
				const [event] = feed.next(1);
				if (event !== undefined) {
					const { eventId, name, timestamp, data } = event;
					const body = { eventId, name, timestamp, data, cursor: feed.cursor };
					const problem = await deliver({ id: eventId, body });
					if (problem !== undefined) {
						onGivenUp(problem, !isLosing);
					}
					isLosing = problem !== undefined;
					hasGap = isLosing;
				}
				if (!ended.signal.aborted) {
					onMoved(feed.cursor);
				}
				if (!hasGap) {
					await feed.changed(ended.signal);
				}
			}
		},
		/** Tries a message that waits at once: the client has renewed the subscription. */
		retry(): void {
			retryNow.abort();
			retryNow = new AbortController();
		},
		stop,
	};
}

/** Makes a message that is no event: SEP-3415, "Non-event webhook bodies". */
export function controlMessage(type: "gap" | "terminated" | "verification", members: object): WebhookMessage {
	return { id: `msg_${type}_${randomBytes(12).toString("hex")}`, body: { type, ...members } };
}

const TIMEOUT = 10_000;

/** Bytes that an endpoint's answer may have. */
const MAX_ANSWER = 65_536;

/** The response of an endpoint, or the reason for its failure. */
export type PostAnswer = { readonly status: number; readonly body: string } | { readonly problem: CallbackProblem };

/** A message for an endpoint: SEP-3415, "Webhook Event Delivery". */
export interface WebhookMessage {
	/** The id of the event, or of the control message. The same for each attempt. */
	readonly id: string;
	readonly body: object;
}

/**
 * Posts a message, signed by Standard Webhooks. Never rejects.
 *
 * @param secrets each `whsec_…`: the endpoint accepts a message that one of them has signed
 * @param isTrusted whether the endpoint may be at a private address
 */
export async function post(
	{ url, id: subscription }: { readonly url: string; readonly id: string },
	{ id, body }: WebhookMessage,
	secrets: readonly string[],
	resolve: LookupFunction | undefined,
	isTrusted: boolean,
): Promise<PostAnswer> {
	const text = JSON.stringify(body);
	const timestamp = `${Math.floor(Date.now() / 1_000)}`;
	const signatures = secrets.map((secret) => {
		const hmac = createHmac("sha256", bytesOfSecret(secret) as Buffer);
		return `v1,${hmac.update(`${id}.${timestamp}.${text}`).digest("base64")}`;
	});
	const headers = {
		"Content-Type": "application/json",
		"webhook-id": id,
		"webhook-timestamp": timestamp,
		"webhook-signature": signatures.join(" "),
		"X-MCP-Subscription-Id": subscription,
	};
	const mayConnect = isTrusted ? () => true : undefined;
	const limits = { timeout: TIMEOUT, maxBytes: MAX_ANSWER };
	try {
		return await requestPublic(new URL(url), { method: "POST", headers, body: text, resolve, mayConnect, ...limits });
	} catch (error) {
		const { name, code = "" } = error as NodeJS.ErrnoException;
		if (name === "TimeoutError" || name === "AbortError" || code === "ETIMEDOUT") {
			return { problem: "timeout" };
		}
		const isTls = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/.test(code);
		return { problem: isTls ? "tls_error" : "connection_refused" };
	}
}

/** The category of a status that is no success; undefined for one that is. A redirect is not followed, so it is no success. */
export function problemOfStatus(status: number): CallbackProblem | undefined {
	if (status >= 200 && status < 300) {
		return undefined;
	}
	return status >= 500 ? "http_5xx" : "http_4xx";
}

/** The bytes of a secret: `whsec_` and the base64 of 24 to 64 bytes; undefined if it is no such secret. */
export function bytesOfSecret(secret: string): Buffer | undefined {
	const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
	const bytes = Buffer.from(base64 ?? "", "base64");
	return bytes.length >= 24 && bytes.length <= 64 ? bytes : undefined;
}
