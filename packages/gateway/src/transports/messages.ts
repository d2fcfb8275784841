import type { IncomingHttpHeaders } from "node:http";
import {
	CLIENT_CAPABILITIES_META_KEY,
	CLIENT_INFO_META_KEY,
	classifyInboundRequest,
	isSpecType,
	type JSONRPCNotification,
	type JSONRPCRequest,
	type JSONRPCResponse,
	LOG_LEVEL_META_KEY,
	PROTOCOL_VERSION_META_KEY,
	ProtocolError,
	UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/server";
import { LRUCache } from "lru-cache";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { REVISION_OF_STATELESS } from "xs-mcp-manager/core";

// The SDK's checks of messages take as much CPU as serving them.

type Members = Readonly<Record<string, unknown>>;

export function isRequest(value: unknown): value is JSONRPCRequest {
	return isCall(value) && (typeof value.id === "string" || Number.isSafeInteger(value.id));
}

export function isNotification(value: unknown): value is JSONRPCNotification {
	return isCall(value) && !("id" in value);
}

export function isResponse(value: unknown): value is JSONRPCResponse {
	const { jsonrpc, id, result, error } = isObject(value) ? value : {};
	const isError = isObject(error) && Number.isSafeInteger(error.code) && typeof error.message === "string";
	const isAnswer = error === undefined ? isObject(result) : isError && result === undefined;
	return jsonrpc === "2.0" && (typeof id === "string" || Number.isSafeInteger(id)) && isAnswer;
}

function isCall(value: unknown): value is Members {
	const { jsonrpc, method, params } = isObject(value) ? value : {};
	return jsonrpc === "2.0" && typeof method === "string" && (params === undefined || isObject(params));
}

/**
 * Reads a message of 2026-07-28, in which each request names its revision and describes its client. Undefined if it belongs to
 * a session.
 *
 * @param headers of the HTTP request that the message came with, which must agree with it
 * @throws ProtocolError if it is not valid, or of a later revision
 */
export function readStateless(
	body: unknown,
	httpMethod = "POST",
	headers?: IncomingHttpHeaders,
): JSONRPCRequest | JSONRPCNotification | undefined {
	const names = ["mcp-protocol-version", "mcp-method", "mcp-name"];
	const [protocolVersionHeader, mcpMethodHeader, mcpNameHeader] = names.map(
		(name) => headers?.[name] as string | undefined,
	);
	if (httpMethod === "POST" && isRequest(body) && isDescribed(body.params?._meta)) {
		const isRevision = protocolVersionHeader === REVISION_OF_STATELESS;
		if (headers === undefined || (isRevision && mcpMethodHeader === body.method)) {
			return body;
		}
	}
	const given = { httpMethod, body, protocolVersionHeader, mcpMethodHeader, mcpNameHeader };
	const inbound = classifyInboundRequest(given as Parameters<typeof classifyInboundRequest>[0]);
	if (inbound.kind === "legacy") {
		return undefined;
	}
	if (inbound.kind === "reject") {
		throw new ProtocolError(inbound.code, inbound.message, inbound.data);
	}
	const { revision: requested = "unknown" } = inbound.classification;
	if (requested !== REVISION_OF_STATELESS) {
		throw new UnsupportedProtocolVersionError({ supported: [REVISION_OF_STATELESS], requested });
	}
	return inbound.message;
}

/** The last descriptions of clients that were valid, as JSON: a client describes itself in each request. */
const valid = new LRUCache<string, true>({ max: 100 });

/** Characters of a description that is remembered. */
const MAX_REMEMBERED = 2_000;

function isDescribed(meta: Members = {}): boolean {
	const { [CLIENT_CAPABILITIES_META_KEY]: capabilities, [CLIENT_INFO_META_KEY]: info } = meta;
	const level = meta[LOG_LEVEL_META_KEY];
	if (meta[PROTOCOL_VERSION_META_KEY] !== REVISION_OF_STATELESS) {
		return false;
	}
	const text = JSON.stringify({ capabilities, info, level });
	const isValid =
		valid.has(text) ||
		(isSpecType.ClientCapabilities(capabilities) &&
			(info === undefined || isSpecType.Implementation(info)) &&
			(level === undefined || isSpecType.LoggingLevel(level)));
	if (isValid && text.length <= MAX_REMEMBERED) {
		valid.set(text, true);
	}
	return isValid;
}
