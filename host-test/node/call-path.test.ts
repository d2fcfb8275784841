import "../../toolchain/xs-globals.js";
import assert from "node:assert/strict";
import { it } from "node:test";
import type { FakeWebSocketClient as Client } from "../doubles/fake-clients.js";
import { calledFunctions, documentedPath } from "../support/call-path.js";

// The firmware looks up the globals of XS when it is loaded. A bundle keeps no order of static imports.
const { Application } = await import("../../src/app/application.js");
const { WebSocketTransport } = await import("../../src/protocols/websocket-transport.js");
const { FakeBoard } = await import("../doubles/fake-board.js");
const { FakeWebSocketClient } = await import("../doubles/fake-clients.js");
const { FakeTimer } = await import("../doubles/fake-timer.js");
const { default: setLamp } = await import("../../examples/set-lamp.js");

/** Limits for most calls. */
const MAX_FILES = 12;
const MAX_FUNCTIONS = 30;

/** A device in a session over WebSocket, as a client class of ECMA-419 sees it. */
function connectDevice(): Client {
	const log = (): void => {};
	const network = { ws: { io: FakeWebSocketClient } };
	const url = "ws://backend/";
	const transport = new WebSocketTransport({ url, token: "", deviceId: "", clientId: "", network, log });
	new Application({
		board: new FakeBoard(),
		backend: url,
		transport,
		timer: new FakeTimer(),
		tools: [setLamp],
		log,
	}).start();
	const client = FakeWebSocketClient.made.at(-1) as Client;
	client.grant(2_000);
	client.arrive(['{"type":"hello","transport":"websocket","session_id":"s"}']);
	client.grant(2_000);
	return client;
}

function call(client: Client, id: number): void {
	const payload = { jsonrpc: "2.0", id, method: "tools/call", params: { name: setLamp.name, arguments: { on: true } } };
	const before = client.written.length;
	client.arrive([JSON.stringify({ session_id: "s", type: "mcp", payload })]);
	assert.equal(client.written.length, before + 1);
}

it("a call on the device takes the files and functions that docs/architecture.md lists, and no more than it may", async () => {
	const client = connectDevice();
	// A session's first message is parsed for `initialize`, and a tool's first call adds the names of its arguments.
	call(client, 1);
	call(client, 2);
	const path = await calledFunctions(["src"], () => call(client, 3));
	const documented = documentedPath("| file of the call | functions |").map(({ file, functions }) => [file, functions]);
	assert.deepEqual([...path].sort(), documented.sort());
	assert.ok(path.size <= MAX_FILES, `${path.size} files`);
	assert.ok([...path.values()].flat().length <= MAX_FUNCTIONS, `${[...path.values()].flat().length} functions`);
});
