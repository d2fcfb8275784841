import { fromBase64 } from "../../core/text/base64.js";
import { isObject } from "../../core/text/json.js";
import { checkParams, ErrorCode, META, type Params, RpcError } from "../../mcp_server/json-rpc.js";
import type { McpServer } from "../../mcp_server/mcp-server.js";
import type { ServedRequest } from "../../protocols/http-server.js";

const VERSION_HEADER = "mcp-protocol-version";

/** The error code for headers that contradict the body. */
const HEADER_MISMATCH = -32020;

/** Whether a message is of a revision since 2026-07-28, by its body or its headers. */
export const isStateless = (message: unknown, headers: ServedRequest["headers"]): message is Params => {
	if (!isObject(message) || (message.method ?? null) === null) {
		return false;
	}
	const isClaimed = readVersion(message) !== undefined || message.method === "server/discover";
	return isClaimed || (headers.get(VERSION_HEADER) ?? "") >= "2026";
};

/**
 * Compares the headers of a request with its body, because proxies may rely on the headers.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 *
 * @throws RpcError that names the header
 */
export const checkHeaders = (message: Params, headers: ServedRequest["headers"], server: McpServer<unknown>): void => {
	const version = readVersion(message);
	if (version === undefined) {
		throw new RpcError(ErrorCode.invalidParams, `_meta.${META.version}: expected a revision of MCP`);
	}
	const method = String(message.method);
	const params = checkParams(message.params);
	compare("MCP-Protocol-Version", headers.get(VERSION_HEADER), version);
	compare("Mcp-Method", headers.get("mcp-method"), method);
	const isNamed = method === "tools/call" || method === "prompts/get";
	const name = isNamed ? params.name : method === "resources/read" ? params.uri : undefined;
	if (name !== undefined) {
		compare("Mcp-Name", decode(headers.get("mcp-name")), name);
	}
	if (method === "tools/call" && isObject(params.arguments)) {
		checkArguments(params.name, params.arguments, headers, server);
	}
};

/** Checks the headers that repeat arguments whose schema has `x-mcp-header`. */
const checkArguments = (
	name: unknown,
	given: Params,
	headers: ServedRequest["headers"],
	server: McpServer<unknown>,
): void => {
	const tool = typeof name === "string" ? server.tools.byName.get(name) : undefined;
	for (const { name: argument, schema } of tool?.members ?? []) {
		const header = schema["x-mcp-header"];
		const value = given[argument];
		if (header !== undefined && value !== undefined && value !== null) {
			const name = `Mcp-Param-${header}`;
			compare(name, decode(headers.get(name.toLowerCase())), value);
		}
	}
};

const compare = (header: string, given: string | undefined, expected: unknown): void => {
	const isSame =
		typeof expected === "number" ? Number(given) === expected : !isObject(expected) && given === String(expected);
	if (given === undefined || !isSame) {
		const words = given === undefined ? "is missing" : "does not match the body";
		throw new RpcError(HEADER_MISMATCH, `Header mismatch: ${header} ${words}`);
	}
};

const readVersion = ({ params }: Params): string | undefined => {
	const meta = isObject(params) ? params._meta : undefined;
	const version = isObject(meta) ? meta[META.version] : undefined;
	return typeof version === "string" ? version : undefined;
};

const ENCODED_START = "=?base64?";
const ENCODED_END = "?=";

/** Decodes text that a header can only hold as base64. Invalid base64 becomes an empty text. */
const decode = (value: string | undefined): string | undefined => {
	if (!(value?.startsWith(ENCODED_START) && value.endsWith(ENCODED_END))) {
		return value;
	}
	const bytes = fromBase64(value.slice(ENCODED_START.length, -ENCODED_END.length));
	try {
		return bytes === undefined ? "" : String.fromArrayBuffer(bytes.buffer as ArrayBuffer);
	} catch {
		return "";
	}
};
