import assert from "node:assert/strict";
import { createServer } from "node:http";
import { it } from "node:test";
import { listen } from "../../../host-test/support/listen.js";
import { Connections } from "../../src/services/connections.js";
import { webSocketsOf } from "../../src/services/websockets.js";

it("A WebSocket of a virtual device fails if Node rejects the header", () => {
	const told: unknown[] = [];
	const sockets = new Connections("ws", webSocketsOf(undefined), ({ header }) => told.push(header));
	sockets.take("open", [7, "ws://127.0.0.1:1/", [["Authorization", "Bearer ключ"]]]);
	sockets.close();
	assert.deepEqual(told, [["ws.error", 7, 'Invalid character in header content ["Authorization"]']]);
});

it("A WebSocket of a virtual device names the HTTP status of a server that has none", async (t) => {
	const server = createServer((_request, response) => response.writeHead(404).end());
	const port = await listen(t, server);
	const told = new Promise((resolve) => {
		const sockets = new Connections("ws", webSocketsOf(undefined), ({ header }) => resolve(header));
		t.after(() => sockets.close());
		sockets.take("open", [7, `ws://127.0.0.1:${port}/`, []]);
	});
	assert.deepEqual(await told, ["ws.error", 7, "no WebSocket at this URL (HTTP status 404)"]);
});
