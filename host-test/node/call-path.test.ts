import "../../toolchain/xs-globals.js";
import assert from "node:assert/strict";
import { it } from "node:test";
import { Application } from "../../src/app/application.js";
import { WebSocketTransport } from "../../src/protocols/websocket-transport.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { FakeWebSocketClient } from "../doubles/fake-clients.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { calledFunctions, documentedPath } from "../support/call-path.js";

// A tool is made when it is loaded: with the globals of XS. A bundle keeps no order of static imports.
const { default: setLamp } = await import("../../examples/set-lamp.js");

/** Limits for most calls. */
const MAX_FILES = 12;
const MAX_FUNCTIONS = 30;

/** A device in a session over WebSocket, as a client class of ECMA-419 sees it. */
function connectDevice(): FakeWebSocketClient {
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
	const client = FakeWebSocketClient.made.at(-1) as FakeWebSocketClient;
	client.grant(2_000);
	client.arrive(['{"type":"hello","transport":"websocket","session_id":"s"}']);
	client.grant(2_000);
	return client;
}

function call(client: FakeWebSocketClient, id: number): void {
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
