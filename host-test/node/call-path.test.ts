import "./xs-globals.js";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import setLamp from "../../examples/set-lamp.js";
import { Application } from "../../src/app/application.js";
import { WebSocketTransport } from "../../src/protocols/websocket-transport.js";
import { FakeBoard } from "../doubles/fake-board.js";
import { FakeWebSocketClient } from "../doubles/fake-clients.js";
import { FakeTimer } from "../doubles/fake-timer.js";

const DOCUMENT = fileURLToPath(new URL("../../docs/architecture.md", import.meta.url));

/** What most calls need. */
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

/** The firmware's functions that run meanwhile, by their files: "protocols/protocol.ts" to "send". */
async function functionsOf(run: () => void): Promise<Map<string, string[]>> {
	const session = new Session();
	session.connect();
	await session.post("Debugger.enable");
	await session.post("Profiler.enable");
	await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
	await session.post("Profiler.takePreciseCoverage");
	run();
	const { result } = await session.post("Profiler.takePreciseCoverage");
	const found = new Map<string, string[]>();
	for (const { scriptId, functions } of result) {
		const called = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
		const source = called.length > 0 ? (await session.post("Debugger.getScriptSource", { scriptId })).scriptSource : "";
		// The bundle of the tests has each file's path above its code.
		const starts = [...source.matchAll(/^\/\/ (\S+\.ts)$/gm)];
		for (const { functionName, ranges } of called) {
			const file = starts.filter(({ index = 0 }) => index <= (ranges[0]?.startOffset ?? 0)).at(-1)?.[1] ?? "";
			if (file.startsWith("src/")) {
				const path = file.slice("src/".length);
				found.set(path, [...(found.get(path) ?? []), functionName].sort());
			}
		}
	}
	session.disconnect();
	return found;
}

/** The table in docs/architecture.md. */
function documented(): Map<string, string[]> {
	const [, table = ""] =
		/^\| file of the call \| functions \|\n\| --- \| --- \|\n((?:\|.*\n)+)/m.exec(readFileSync(DOCUMENT, "utf8")) ?? [];
	const codes = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code as string);
	return new Map(
		table
			.trimEnd()
			.split("\n")
			.map((row) => row.split("|"))
			.map(([, file = "", functions = ""]) => [codes(file)[0] ?? "", codes(functions).sort()]),
	);
}

it("a call on the device takes the files and functions that docs/architecture.md lists, and no more than it may", async () => {
	const client = connectDevice();
	// A session's first message is parsed for `initialize`, and a tool's first call adds the names of its arguments.
	call(client, 1);
	call(client, 2);
	const path = await functionsOf(() => call(client, 3));
	assert.deepEqual([...path].sort(), [...documented()].sort());
	assert.ok(path.size <= MAX_FILES, `${path.size} files`);
	assert.ok([...path.values()].flat().length <= MAX_FUNCTIONS, `${[...path.values()].flat().length} functions`);
});
