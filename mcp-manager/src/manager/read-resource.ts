import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from "@modelcontextprotocol/client";
import type { Server } from "../core/server.js";
import { McpError } from "./mcp-error.js";
import type { ResourceCache } from "./resource-cache.js";
import { expectComplete } from "./results.js";

/** Reads a resource from the cache, unless `fresh`, or else from its server. */
export async function readResource(
	server: Server,
	uri: string,
	cache: ResourceCache,
	fresh: boolean,
): Promise<ReadResourceResult> {
	const cached = fresh ? undefined : cache.get(server, uri);
	if (cached !== undefined) {
		return cached;
	}
	const answer = await server.calls.request("resources/read", { uri }).catch((error: unknown) => {
		throw isUnknownResource(error, server, uri)
			? new McpError("RESOURCE_NOT_FOUND", `Resource '${uri}' not found: ${(error as Error).message}`)
			: error;
	});
	const result = expectComplete(answer);
	cache.set(server, uri, result);
	return result;
}

/** Many servers answer −32602 for an unknown resource. If they list it, something else is wrong. */
function isUnknownResource(error: unknown, { offers }: Server, uri: string): boolean {
	return (
		ProtocolError.isInstance(error) &&
		error.code === ProtocolErrorCode.InvalidParams &&
		!offers.resources.some((resource) => resource.uri === uri)
	);
}
