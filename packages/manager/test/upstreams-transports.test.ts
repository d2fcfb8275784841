import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import { describe, it } from "node:test";
import { listenForSockets } from "../../../host-test/support/testing.js";
import { callText, connected, initialized, serveHttp, serveResults } from "../testing/upstreams.js";

describe("a configured server", () => {
	it("over WebSocket gets the subprotocol mcp and the headers", async (t) => {
		const { server: sockets, url } = await listenForSockets(t);
		let authorization: string | undefined;
		sockets.on("connection", (socket, { headers }) => {
			authorization = headers.authorization;
			assert.equal(socket.protocol, "mcp");
			socket.on("message", (data) => {
				const { id, method, params } = JSON.parse(data.toString());
				const answers: Record<string, () => object> = {
					initialize: () => initialized(params.protocolVersion),
					"tools/list": () => ({ tools: [{ name: "hi", inputSchema: { type: "object" } }] }),
					"tools/call": () => ({ content: [{ type: "text", text: "hello" }] }),
				};
				const result = answers[method]?.();
				if (id !== undefined && result !== undefined) {
					socket.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
				}
			});
		});
		const { server } = await connected(t, { id: "ws", url, headers: { Authorization: "Bearer secret" } });
		assert.equal(authorization, "Bearer secret");
		assert.equal(await callText(server, "hi", {}), "hello");
	});

	it("over SSE fails with the reason if its endpoint is another server's", async (t) => {
		const url = await serveHttp(t, (_request, response) => {
			response.writeHead(200, { "Content-Type": "text/event-stream" });
			response.write("event: endpoint\ndata: http://example.com/messages\n\n");
		});
		await assert.rejects(connected(t, { id: "sse", url, transport: "sse" }), {
			message: /Endpoint origin does not match/,
		});
	});

	it("that has only SSE fails with the reason if it rejects the handshake", async (t) => {
		let stream: ServerResponse | undefined;
		const url = await serveHttp(t, async (request, response) => {
			if (request.method === "GET") {
				stream = response.writeHead(200, { "Content-Type": "text/event-stream" });
				stream.write("event: endpoint\ndata: /messages\n\n");
				return;
			}
			const { id } = JSON.parse(await readText(request));
			response.writeHead(request.url === "/messages" ? 202 : 405).end();
			const error = { code: -32_000, message: "no licence found" };
			stream?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, error })}\n\n`);
		});
		await assert.rejects(connected(t, { id: "sse", url }), { message: "Connection failed: no licence found" });
	});

	it("is asked again after the time that it names, if there were too many requests", async (t) => {
		let requests = 0;
		const url = await serveResults(t, ({ method, params }, response) => {
			requests += 1;
			if (requests === 1) {
				response.writeHead(429, { "Retry-After": "0" }).end();
				return undefined;
			}
			return method === "initialize" ? initialized(params.protocolVersion) : { tools: [] };
		});
		const { configured } = await connected(t, { id: "busy", url });
		assert.equal(configured.status, "connected");
		assert.ok(requests > 2);
	});

	it("is disconnected if an answer over HTTP is larger than a message may be", async (t) => {
		const url = await serveHttp(t, (request, response) => {
			request.resume();
			response.writeHead(200, { "Content-Type": "application/json" });
			response.end(JSON.stringify({ jsonrpc: "2.0", id: 0, result: "x".repeat(11_000_000) }));
		});
		await assert.rejects(connected(t, { id: "huge", url }), {
			message: "Connection failed: response too large (limit 10485760 bytes)",
		});
	});

	for (const piece of ["x".repeat(65_536), `data: ${"x".repeat(1_000)}\n`.repeat(64)]) {
		it(`is disconnected if an event has no end (${piece.includes("\n") ? "lines" : "one line"})`, async (t) => {
			const url = await serveHttp(t, (request, response) => {
				request.resume();
				response.writeHead(200, { "Content-Type": "text/event-stream" });
				const write = (): void => {
					while (!response.destroyed && response.write(piece)) {}
				};
				response.write("data: ");
				response.on("drain", write);
				write();
			});
			await assert.rejects(connected(t, { id: "endless", url }), {
				message: "Connection failed: event too large (limit 10485760 bytes)",
			});
		});
	}
});
