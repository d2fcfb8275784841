// An MCP server without sessions and streams: each answer is plain JSON. It tells what it was asked.

import { createServer, type IncomingHttpHeaders } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { listen } from "../../../../host-test/support/listen.js";

/** Reaction to a call: an answer, or a broken connection. */
type OnCall = (number: number) => "answer" | "break";

export async function startPlainUpstream(t: TestContext, onCall: OnCall = () => "answer") {
	const methods: string[] = [];
	const headers: IncomingHttpHeaders[] = [];
	let isHanging = false;
	const server = createServer(async (request, response) => {
		if (request.method !== "POST") {
			response.writeHead(405).end();
			return;
		}
		const { id, method } = JSON.parse(await readText(request)) as { id?: number; method: string };
		methods.push(method);
		headers.push(request.headers);
		if (isHanging) {
			return;
		}
		if (method === "tools/call" && onCall(methods.filter((each) => each === method).length) === "break") {
			request.socket.destroy();
		} else if (id === undefined) {
			response.writeHead(202).end();
		} else {
			response.setHeader("content-type", "application/json");
			response.end(JSON.stringify({ jsonrpc: "2.0", id, result: resultOf(method) }));
		}
	});
	const stop = async (): Promise<void> => {
		server.close();
		server.closeAllConnections();
	};
	return {
		url: `http://127.0.0.1:${await listen(t, server)}/mcp`,
		methods,
		headers,
		stop,
		/** From now on it accepts requests, and answers none. */
		hang: () => {
			isHanging = true;
		},
	};
}

function resultOf(method: string): object {
	switch (method) {
		case "initialize":
			return {
				protocolVersion: "2025-06-18",
				capabilities: { tools: {} },
				serverInfo: { name: "plain", version: "1" },
			};
		case "tools/list":
			return { tools: [{ name: "count", inputSchema: { type: "object" } }] };
		case "tools/call":
			return { content: [{ type: "text", text: "counted" }] };
		default:
			return {};
	}
}
