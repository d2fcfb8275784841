import assert from "node:assert/strict";
import type { Connection, RequestContext } from "xs-mcp-manager/core";

export async function callTool(
	connection: Connection | undefined,
	name: string,
	args: object = {},
	context: RequestContext = {},
) {
	assert(connection);
	return await connection.request({ method: "tools/call", params: { name, arguments: args } }, context);
}
