import assert from "node:assert/strict";
import type { Session } from "xs-mcp-manager/core";

export async function callTool(
	session: Session | undefined,
	name: string,
	args: object = {},
	options: Parameters<Session["request"]>[2] = {},
) {
	assert(session);
	return await session.request("tools/call", { name, arguments: args }, options);
}
