import { digest } from "xs-mcp-manager/core";
import * as z from "zod";
import { isLoopback } from "../config/listen-address.js";
import type { DeviceKey } from "../devices/device-key.js";

const clientSchema = z.object({
	/** Made by {@link registerClient}, or the URL of its metadata document. */
	id: z.string(),
	name: z.string(),
	redirectUris: z.array(z.string()).readonly(),
});

/** A client that signs in, as it describes itself. All are public clients: none has a secret. */
export type OAuthClient = Readonly<z.infer<typeof clientSchema>>;

/** Most redirect URIs of a client, and characters of its description: its id holds them. */
const MAX_REDIRECT_URIS = 10;
const MAX_DESCRIPTION = 2_048;
const MAX_NAME = 100;

/** A name or an address: URLs may have commas, semicolons and asterisks there, which mean something in a policy for browsers. */
const HOSTNAME = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

/** RFC 7591 section 2; OAuth 2.1 section 2.3.1. */
const redirectUri = z
	.string()
	.max(512)
	.refine(isRedirectUri, "expected https, http on this machine, or an app's own scheme with a domain name");

/** The parts of a client's metadata (RFC 7591 section 2) that the gateway uses. */
export const CLIENT_METADATA = z.object({
	redirect_uris: z.array(redirectUri).min(1).max(MAX_REDIRECT_URIS),
	client_name: z.string().min(1).optional(),
});

export type ClientMetadata = z.infer<typeof CLIENT_METADATA>;

/** A name for people: in one line, without characters that hide or turn others. */
export function nameOf({ client_name: name, redirect_uris: [uri = ""] }: ClientMetadata): string {
	const visible = name?.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ").trim();
	return (visible || new URL(uri).host || new URL(uri).protocol).slice(0, MAX_NAME);
}

/** Purpose of the sealed ids of clients. */
const CLIENT = "oauth client";

/**
 * Registers a client (RFC 7591) without storing it: its id is its description with a code that only this gateway can compute.
 * Returns undefined if the description is too long.
 */
export function registerClient(key: DeviceKey, metadata: ClientMetadata): OAuthClient | undefined {
	const [name, redirectUris] = [nameOf(metadata), metadata.redirect_uris];
	const isTooLong = JSON.stringify([name, redirectUris]).length > MAX_DESCRIPTION;
	return isTooLong ? undefined : { id: key.seal(CLIENT, [name, redirectUris]), name, redirectUris };
}

/** The registered client with an id; undefined if this gateway has not made it. */
export function findClient(key: DeviceKey, id: string): OAuthClient | undefined {
	const description = key.open(CLIENT, id) as [string, string[]] | undefined;
	return description && { id, name: description[0], redirectUris: description[1] };
}

/** Whether a client may be redirected there: the URI is one of its own, character by character; a loopback port is free. */
export function mayRedirect({ redirectUris }: OAuthClient, uri: string): boolean {
	return isRedirectUri(uri) && redirectUris.some((own) => own === uri || isSameButPort(own, uri));
}

function isRedirectUri(uri: string): boolean {
	if (!URL.canParse(uri) || uri.includes("#") || /[\s\\]/.test(uri)) {
		return false;
	}
	const { protocol, hostname, origin, username, password } = new URL(uri);
	if (username !== "" || password !== "") {
		return false;
	}
	if (/^https?:$/.test(protocol)) {
		return protocol === "https:" ? HOSTNAME.test(hostname) : isLoopback(hostname);
	}
	// An app's own scheme is a reverse domain name (RFC 8252 sections 7.1 and 8.4). An editor names its extension in that form
	// after its scheme instead: cursor://anysphere.cursor-mcp. The origin of a scheme that browsers open themselves is not "null".
	const isOfBrowser = origin !== "null" || protocol === "javascript:" || protocol === "file:";
	return protocol.includes(".") || (hostname.includes(".") && !isOfBrowser);
}

/** RFC 8252 section 7.3: an app listens on any free port. */
function isSameButPort(own: string, asked: string): boolean {
	const [one, other] = [new URL(own), new URL(asked)];
	const same = (["protocol", "hostname", "pathname", "search"] as const).every((part) => one[part] === other[part]);
	return same && one.protocol === "http:" && isLoopback(one.hostname);
}

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
