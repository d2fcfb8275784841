import type { IncomingMessage } from "node:http";
import {
	classifyInboundRequest,
	type JSONRPCNotification,
	type JSONRPCRequest,
	ProtocolError,
	UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/server";
import { REVISION_OF_STATELESS } from "xs-mcp-manager/core";

/**
 * Reads a message of 2026-07-28, in which each request names its revision and describes its client. Undefined if it belongs to
 * a session.
 *
 * @param request the HTTP request that the message came with, whose headers must agree with it
 * @throws ProtocolError if it is not valid, or of a later revision
 */
export function readStateless(
	body: unknown,
	request?: IncomingMessage,
): JSONRPCRequest | JSONRPCNotification | undefined {
	const { method = "POST", headers = {} } = request ?? {};
	const inbound = classifyInboundRequest({
		httpMethod: method,
		body,
		...("mcp-protocol-version" in headers && { protocolVersionHeader: `${headers["mcp-protocol-version"]}` }),
		...("mcp-method" in headers && { mcpMethodHeader: `${headers["mcp-method"]}` }),
		...("mcp-name" in headers && { mcpNameHeader: `${headers["mcp-name"]}` }),
	});
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
