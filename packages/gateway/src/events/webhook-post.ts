import { createHmac } from "node:crypto";
import type { LookupFunction } from "node:net";
import { requestPublic } from "../http/public-request.js";
import type { CallbackProblem } from "./event-types.js";

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
		return { problem: problemOf(error as NodeJS.ErrnoException) };
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

function problemOf({ name, code = "" }: NodeJS.ErrnoException): CallbackProblem {
	if (name === "TimeoutError" || name === "AbortError" || code === "ETIMEDOUT") {
		return "timeout";
	}
	return /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/.test(code) ? "tls_error" : "connection_refused";
}
