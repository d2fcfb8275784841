import { isObject } from "../core/text/json.js";
import { invalidParams, negotiate, OLDEST_REVISION, type Params, quotable } from "./json-rpc.js";
import type { McpSession } from "./mcp-session.js";

// Looked up once: XS searches the global object, and `JSON`, at each use.
const { stringify } = JSON;

/** Upload target of the camera's pictures: the vendor capability `vision` of xiaozhi backends. */
export interface Vision {
	/** http or https. */
	readonly url: string;
	/** Bearer token; empty if the client sent none. */
	readonly token: string;
}

/** The client as it described itself in `initialize`. */
export interface Client {
	readonly name?: string;
	readonly version?: string;
	/** Only `elicitation`, `roots` and `sampling`, which questions to the client need. */
	readonly capabilities: Readonly<Record<string, unknown>>;
	/** Since 2026-07-28: the lowest level of log messages that it wants; "none" for none. */
	readonly logLevel?: string;
	readonly vision?: Vision;
}

/**
 * Reads a client's description of itself from the params of `initialize`.
 *
 * @throws RpcError invalid params, if `capabilities` is present and neither an object nor null
 */
export const readClient = (params: Readonly<Record<string, unknown>>, log: (message: string) => void): Client => {
	const { clientInfo } = params;
	const capabilities = params.capabilities ?? {};
	if (!isObject(capabilities)) {
		throw invalidParams("capabilities: expected an object");
	}
	const info = isObject(clientInfo) ? clientInfo : {};
	const vision = readVision(capabilities.vision, log);
	const client: { -readonly [K in keyof Client]: Client[K] } = { capabilities: readCapabilities(capabilities, log) };
	if (typeof info.name === "string") {
		client.name = quotable(info.name);
	}
	if (typeof info.version === "string") {
		client.version = quotable(info.version);
	}
	if (vision !== undefined) {
		client.vision = vision;
	}
	return client;
};

/** Maximum characters of capabilities as JSON, of a URL and of a token, which the session keeps. */
const MAX_KEPT_LENGTH = 1_024;

export const NO_CAPABILITIES: Client["capabilities"] = Object.freeze({});

/** Most clients of a device declare none: they need no copy. */
const readCapabilities = (
	{ elicitation, roots, sampling }: Readonly<Record<string, unknown>>,
	log: (message: string) => void,
): Client["capabilities"] => {
	if ((elicitation ?? roots ?? sampling ?? null) === null) {
		return NO_CAPABILITIES;
	}
	const capabilities = { elicitation, roots, sampling };
	const { length } = JSON.stringify(capabilities);
	if (length > MAX_KEPT_LENGTH) {
		log(`capabilities dropped: ${length} characters (limit ${MAX_KEPT_LENGTH})`);
		return NO_CAPABILITIES;
	}
	return capabilities;
};

/** Compares with lower case first, which most URLs have: in XS a regular expression takes 15 % of the handshake. */
const isHttpUrl = (url: string): boolean =>
	url.startsWith("http://") || url.startsWith("https://") || /^https?:\/\//i.test(url);

/** An unusable vision service only disables vision; the handshake continues. */
const readVision = (vision: unknown, log: (message: string) => void): Vision | undefined => {
	if (vision === undefined || vision === null) {
		return undefined;
	}
	const { url, token } = isObject(vision) ? vision : {};
	const isHttp = typeof url === "string" && isHttpUrl(url);
	if (!isHttp || url.length > MAX_KEPT_LENGTH) {
		const got = quotable(JSON.stringify(url) ?? "nothing");
		log(`capabilities.vision.url: expected an http or https URL, got ${got}; vision service disabled`);
		return undefined;
	}
	return { url, token: typeof token === "string" && token.length <= MAX_KEPT_LENGTH ? token : "" };
};

// The result is concatenated: stringifying it as one object takes XS twice as long.
const RESULT = '{"protocolVersion":"';
const CAPABILITIES = '","capabilities":';
const SERVER_NAME = ',"serverInfo":{"name":';
const SERVER_VERSION = ',"version":';
const RESULT_END = "}}";

/**
 * Reads the client's capabilities, and negotiates the revision.
 *
 * @returns the result as JSON
 * @throws RpcError
 */
export const initialize = (params: Params, session: McpSession<unknown>): string => {
	const { name, version, capabilities, log } = session.server;
	// Some backends name no revision.
	const requested = params.protocolVersion ?? OLDEST_REVISION;
	if (typeof requested !== "string") {
		throw invalidParams("protocolVersion: expected a string");
	}
	session.client = readClient(params, log);
	session.revision = negotiate(requested);
	return RESULT.concat(
		session.revision,
		CAPABILITIES,
		stringify(capabilities),
		SERVER_NAME,
		stringify(name),
		SERVER_VERSION,
		stringify(version),
		RESULT_END,
	);
};
