import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, it } from "node:test";
import { listen } from "../../../host-test/support/testing.js";
import { openHttpRequest } from "../src/services/http.js";
import { openConnections } from "../src/services/service.js";
import { webSocketsOf } from "../src/services/sockets.js";

/** Messages to the firmware about its request. */
function open(options: object, headers: readonly (readonly [string, string])[] = []): unknown[] {
	const told: unknown[] = [];
	const requests = openConnections("http", openHttpRequest, ({ header }) => told.push(header));
	const target = { host: "127.0.0.1", port: 1, secure: false, method: "GET", path: "/", bodyBytes: 0 };
	requests.take("open", [7, { ...target, ...options }, headers]);
	requests.close();
	return told;
}

describe("HTTP requests of a virtual device", () => {
	it("fail if Node rejects the path", () => {
		assert.deepEqual(open({ path: "/日本" }), [["http.error", 7, "Request path contains unescaped characters"]]);
	});

	it("fail if Node rejects the header", () => {
		const told = open({}, [["Authorization", "Bearer ключ"]]);
		assert.deepEqual(told, [["http.error", 7, 'Invalid character in header content ["Authorization"]']]);
	});
});

it("A WebSocket of a virtual device fails if Node rejects the header", () => {
	const told: unknown[] = [];
	const sockets = openConnections("ws", webSocketsOf(undefined), ({ header }) => told.push(header));
	sockets.take("open", [7, "ws://127.0.0.1:1/", [["Authorization", "Bearer ключ"]]]);
	sockets.close();
	assert.deepEqual(told, [["ws.error", 7, 'Invalid character in header content ["Authorization"]']]);
});

it("A WebSocket of a virtual device names the HTTP status of a server that has none", async (t) => {
	const server = createServer((_request, response) => response.writeHead(404).end());
	const port = await listen(t, server);
	const told = new Promise((resolve) => {
		const sockets = openConnections("ws", webSocketsOf(undefined), ({ header }) => resolve(header));
		t.after(() => sockets.close());
		sockets.take("open", [7, `ws://127.0.0.1:${port}/`, []]);
	});
	assert.deepEqual(await told, ["ws.error", 7, "no WebSocket at this URL (HTTP status 404)"]);
});
