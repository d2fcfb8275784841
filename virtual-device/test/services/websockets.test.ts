import assert from "node:assert/strict";
import { it } from "node:test";
import { WebSockets } from "../../src/services/websockets.js";

it("A WebSocket of a virtual device fails if Node rejects the header", () => {
	const told: unknown[] = [];
	const sockets = new WebSockets(({ header }) => told.push(header));
	sockets.take("open", [7, "ws://127.0.0.1:1/", [["Authorization", "Bearer ключ"]]]);
	sockets.close();
	assert.deepEqual(told, [["ws.error", 7, 'Invalid character in header content ["Authorization"]']]);
});
