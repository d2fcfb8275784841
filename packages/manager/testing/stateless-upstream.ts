// An MCP server over HTTP that has only 2026-07-28: the official SDK's, one instance for each request.
import { createServer } from "node:http";
import type { TestContext } from "node:test";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, InMemoryServerEventBus, Server, type ServerOptions } from "@modelcontextprotocol/server";
import { listen } from "../../../host-test/support/testing.js";

export async function startStatelessUpstream(
	t: TestContext,
	capabilities: NonNullable<ServerOptions["capabilities"]>,
	setUp: (server: Server) => void,
) {
	const bus = new InMemoryServerEventBus(() => {});
	const makeServer = () => {
		const server = new Server({ name: "stateless", version: "1.0.0" }, { capabilities });
		setUp(server);
		return server;
	};
	const handler = createMcpHandler(makeServer, { legacy: "reject", bus });
	const serve = toNodeHandler(handler);
	/** The headers of each POST. */
	const posted: NodeJS.Dict<string | string[]>[] = [];
	const server = createServer((request, response) => {
		posted.push(request.headers);
		void serve(request as NodeIncomingMessageLike, response);
	});
	t.after(() => handler.close());
	return { url: `http://127.0.0.1:${await listen(t, server)}/mcp`, bus, posted };
}
