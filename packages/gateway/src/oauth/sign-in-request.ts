import { digest } from "xs-mcp-manager/core";
import * as z from "zod";
import type { DeviceKey } from "../devices/device-key.js";
import { clientSchema } from "./clients.js";

/** Milliseconds in which a person can answer. */
const LIFETIME = 600_000;

/** Purpose of the sealed requests. */
const REQUEST = "oauth request";

export const requestSchema = z.object({
	/** Random. It is approved once. */
	id: z.string(),
	client: clientSchema,
	redirectUri: z.string(),
	state: z.string().optional(),
	/** PKCE: the SHA-256 of the verifier, base64url (RFC 7636 section 4.2). */
	challenge: z.string(),
	/** The resource, as ProtectedResource.identify spells it. */
	audience: z.string(),
	scope: z.string(),
	/** Operator who may approve it; undefined until recognized. */
	operator: z.string().optional(),
});

/** A client's request to sign in, while a person looks at it: RFC 6749 section 4.1.1. */
export type SignInRequest = z.infer<typeof requestSchema>;

const sealedSchema = z.object({ request: requestSchema, browser: z.string(), expires: z.number() });

/**
 * Seals a request for the form of a browser with this secret, so that strangers cannot fill the gateway's memory. `now` is the
 * time that every gateway goes by: another one may open the request.
 */
export function sealRequest(key: DeviceKey, request: SignInRequest, browser: string, now: number): string {
	return key.seal(REQUEST, { request, browser: digest(browser), expires: now + LIFETIME });
}

/** Opens a sealed request. Returns undefined if it was not sealed for this browser, or is too old. */
export function openRequest(key: DeviceKey, sealed: string, browser: string, now: number): SignInRequest | undefined {
	const { data } = sealedSchema.safeParse(key.open(REQUEST, sealed));
	return data && data.expires > now && data.browser === digest(browser) ? data.request : undefined;
}
