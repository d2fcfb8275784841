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
import { REVISION_OF_STATELESS } from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";

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
	if (httpMethod === "POST" && isRequest(body) && isDescribed(body.params?._meta) && agrees(body.method, headers)) {
		return body;
	}
	const [protocolVersionHeader, mcpMethodHeader, mcpNameHeader] = [
		"mcp-protocol-version",
		"mcp-method",
		"mcp-name",
	].map((name) => headers?.[name] as string | undefined);
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

function agrees(method: string, headers: IncomingHttpHeaders | undefined): boolean {
	return (
		headers === undefined ||
		(headers["mcp-protocol-version"] === REVISION_OF_STATELESS && headers["mcp-method"] === method)
	);
}

/** The values that headers can repeat. */
type Scalar = string | number | boolean;

/** A JSON-RPC request or notification, as far as headers repeat it. */
interface Repeated {
	readonly method?: string;
	readonly params?: Readonly<Record<string, unknown>>;
}

/** The parameter that the header `Mcp-Name` repeats, by method. */
const NAMED_BY: Readonly<Record<string, string>> = {
	"tools/call": "name",
	"prompts/get": "name",
	"resources/read": "uri",
	"tasks/get": "taskId",
	"tasks/update": "taskId",
	"tasks/cancel": "taskId",
};

/** The form of a header whose text is not ASCII: 2026-07-28, "Value Encoding". */
const BASE64 = /^=\?base64\?(.*)\?=$/;

const DECIMAL = /^-?\d+(\.\d+)?$/;

/** Lists the headers that repeat the body of a request, with the values in it: 2026-07-28, "Standard Request Headers". */
export function standardHeaders({ method = "", params }: Repeated): Record<string, Scalar> {
	const name = params?.[NAMED_BY[method] ?? ""];
	return { "Mcp-Method": method, ...(typeof name === "string" && { "Mcp-Name": name }) };
}

/**
 * Lists the headers that the schema of a tool's arguments asks for, at any depth of objects, with the values in the
 * arguments: 2026-07-28, "Custom Headers from Tool Parameters".
 */
export function parameterHeaders(schema: unknown, value: unknown): Record<string, Scalar> {
	const { properties, "x-mcp-header": name } = isObject(schema) ? schema : {};
	if (typeof name === "string" && isScalar(value)) {
		return { [`Mcp-Param-${name}`]: value };
	}
	if (!isObject(properties) || !isObject(value)) {
		return {};
	}
	const headers = Object.entries(properties).map(([key, property]) => parameterHeaders(property, value[key]));
	return Object.assign({}, ...headers);
}

/** Encodes values for HTTP headers. */
export function encodeHeaders(values: Readonly<Record<string, Scalar>>): Record<string, string> {
	return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, encode(`${value}`)]));
}

/** The first difference between headers and the values that they must repeat; undefined without one. */
export function headersProblem(
	headers: Readonly<Record<string, unknown>>,
	values: Readonly<Record<string, Scalar>>,
): string | undefined {
	for (const [name, value] of Object.entries(values)) {
		const header = headers[name.toLowerCase()];
		if (header === undefined) {
			return `the header ${name} is missing`;
		}
		const text = decode(`${header}`);
		if (text === undefined) {
			return `the header ${name} is not Base64 of UTF-8`;
		}
		const isSame = typeof value === "number" && DECIMAL.test(text) ? Number(text) === value : text === `${value}`;
		if (!isSame) {
			return `the header ${name} is ${JSON.stringify(text)}, the body has ${JSON.stringify(value)}`;
		}
	}
	return undefined;
}

/** Integers beyond 2^53 are not exact. */
function isScalar(value: unknown): value is Scalar {
	const isNumber = typeof value === "number" && (!Number.isInteger(value) || Number.isSafeInteger(value));
	return isNumber || typeof value === "string" || typeof value === "boolean";
}

function encode(text: string): string {
	const isPlain = /^[!-~]([\t -~]*[!-~])?$/.test(text) && !BASE64.test(text);
	return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}

/** The text of a header; undefined if it is not valid. */
function decode(header: string): string | undefined {
	const base64 = BASE64.exec(header)?.[1];
	if (base64 === undefined) {
		return header;
	}
	const text = Buffer.from(base64, "base64").toString();
	return Buffer.from(text).toString("base64") === base64 ? text : undefined;
}
