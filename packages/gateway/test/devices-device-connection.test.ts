import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Server } from "xs-mcp-manager/core";
import { callTool } from "../../../host-test/support/call-tool.js";
import { DeviceConnection } from "../src/devices/device-connection.js";

// A device at the other end of a connection in memory: what it is asked is seen, what it answers is said.

interface Payload {
	readonly id?: number;
	readonly method?: string;
	readonly params?: Readonly<Record<string, unknown>>;
}

const INITIALIZED = {
	protocolVersion: "2025-11-25",
	capabilities: { tools: {} },
	serverInfo: { name: "lamp", version: "1.0.0" },
};

async function connect(initializeResult: object = INITIALIZED, more: { configured?: true } = {}) {
	const asked: Payload[] = [];
	const link = {
		isShared: true,
		disconnects: 0,
		write(text: string) {
			asked.push(JSON.parse(text).payload);
		},
		disconnect() {
			link.disconnects += 1;
		},
	};
	const identity = { id: "dev", clientId: "uuid", transport: "test", ...more };
	const connection = new DeviceConnection(identity, { maxMessageBytes: 8_192 }, link);
	const invalid: string[] = [];
	const closed: string[] = [];
	const told: unknown[] = [];
	connection.server = {
		notified: (_connection: unknown, ...notification: unknown[]) => told.push(["notification", ...notification]),
		registry: {
			reject: (description: string) => invalid.push(description.replace("dev: ", "")),
			disconnected: (_server: unknown, _connection: unknown, reason: string) => closed.push(reason),
			emit: (_name: string, _server: unknown, ...event: unknown[]) => told.push(["of a request", ...event]),
		},
	} as unknown as Server;
	const initialized = connection.initialize({}, { name: "gateway", version: "1" });
	const say = (payload: unknown): void => connection.receive({ type: "mcp", payload });
	const answer = (member: object): void =>
		say({ jsonrpc: "2.0", id: asked.filter(({ id }) => id !== undefined).at(-1)?.id, ...member });
	answer({ result: initializeResult });
	await initialized;
	const [first] = asked.splice(0);
	return { connection, first, asked, link, invalid, closed, told, say, answer };
}

const RESULT = { content: [{ type: "text", text: "ok" }], isError: false };

describe("a connection to a device", () => {
	it("begins with initialize, and takes what a device of the family leaves out as the oldest revision has it", async () => {
		const { connection, first } = await connect({ serverInfo: { name: "esp", version: 2 } });
		// Some peers take 0 for no id.
		assert.deepEqual([first?.method, first?.id], ["initialize", 1]);
		assert.deepEqual(connection.info, { name: "esp", version: "2" });
		assert.equal(connection.revision, "2024-11-05");
	});

	it("names a client's extensions to configured servers, but not to devices", async () => {
		const experimental = { stateless: { supportedVersions: ["2026-07-28"] } };
		const extensions = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } };
		for (const [configured, expected] of [
			[undefined, { roots: {} }],
			[true, { roots: {}, extensions }],
		] as const) {
			const result = { ...INITIALIZED, capabilities: { tools: {}, experimental } };
			const { connection, asked, answer } = await connect(result, { ...(configured && { configured }) });
			const call = connection.request(
				{ method: "tools/call", params: { name: "x" } },
				{ capabilities: { roots: {}, extensions } },
			);
			answer({ result: RESULT });
			await call;
			const meta = asked[0]?.params?._meta as Readonly<Record<string, unknown>>;
			assert.deepEqual(meta["io.modelcontextprotocol/clientCapabilities"], expected);
		}
	});

	it("lists the pages of a configured server as MCP has it: the first without a cursor", async () => {
		const { connection, asked, answer } = await connect(INITIALIZED, { configured: true });
		const list = connection.list("tools");
		for (const nextCursor of ["b", undefined]) {
			await turn();
			answer({ result: { tools: [], ...(nextCursor !== undefined && { nextCursor }) } });
		}
		await list;
		const found = asked.map(({ params }) => params);
		assert.deepEqual(found, [{}, { cursor: "b" }]);
	});

	it("rejects a call at once whose message the device cannot take, and goes on", async () => {
		const { connection, asked, answer } = await connect();
		await assert.rejects(callTool(connection, "t", { text: "x".repeat(9_000) }), {
			code: "invalid-arguments",
			message: /^message too large for the device: 9[0-9]+ bytes \(limit 8192\)$/,
		});
		let nested: unknown = 1;
		for (let level = 0; level < 30; level += 1) {
			nested = [nested];
		}
		await assert.rejects(callTool(connection, "t", { nested }), {
			code: "invalid-arguments",
			message: /nested too deeply/,
		});
		assert.deepEqual(asked, []);
		const call = callTool(connection, "t");
		answer({ result: RESULT });
		await call;
	});

	it("reports progress that is not valid, or that no call has asked for", async () => {
		const { connection, asked, say, answer, invalid } = await connect();
		const call = callTool(connection, "t");
		for (const params of [{}, { progressToken: asked[0]?.id, progress: 1 }, { progressToken: "none", progress: "1" }]) {
			say({ jsonrpc: "2.0", method: "notifications/progress", params });
		}
		answer({ result: RESULT });
		await call;
		assert.equal(invalid.length, 3);
	});

	it("rejects answers that are not valid", async () => {
		for (const member of [{}, { result: 5 }, { result: [] }]) {
			const { connection, answer } = await connect();
			const call = callTool(connection, "t");
			answer(member);
			await assert.rejects(call, { code: "invalid-result" }, JSON.stringify(member));
		}
	});

	it("drops and reports messages that are not valid", async () => {
		const { connection, invalid, say } = await connect();
		for (const message of [5, null, [], {}, { id: 99, result: {} }, { id: "1", result: {} }, { method: "x", id: {} }]) {
			say(message);
		}
		assert.equal(invalid.length, 7);
		connection.receive({ type: "mcp", session_id: "another", payload: {} });
		assert.match(invalid.at(-1) ?? "", /another session/);
	});

	it("asks for log messages only if the device declares them", async () => {
		const { connection, asked, answer } = await connect({ ...INITIALIZED, capabilities: { tools: {}, logging: {} } });
		const call = callTool(connection, "t", {}, { logLevel: "warning" });
		await turn();
		const found = asked.map(({ method, params }) => [method, params?.level]);
		assert.deepEqual(found, [
			["logging/setLevel", "warning"],
			["tools/call", undefined],
		]);
		answer({ result: RESULT });
		await call;
		connection.close();
		const silent = await connect();
		void callTool(silent.connection, "t", {}, { logLevel: "warning" }).catch(() => {});
		await turn();
		const methods = silent.asked.map(({ method }) => method);
		assert.deepEqual(methods, ["tools/call"]);
		silent.connection.close();
	});

	it("tells of progress and cancellation apart from other notifications", async () => {
		const { say, told } = await connect();
		for (const method of ["notifications/progress", "notifications/cancelled", "notifications/other"]) {
			say({ jsonrpc: "2.0", method, params: { progressToken: 1, requestId: 1, progress: 1 } });
			await turn();
		}
		say({ jsonrpc: "2.0", method: "notifications/bare" });
		await turn();
		const params = { progressToken: 1, requestId: 1, progress: 1 };
		assert.deepEqual(told, [
			["of a request", "notifications/progress", params],
			["of a request", "notifications/cancelled", params],
			["notification", "notifications/other", params],
			["notification", "notifications/bare", {}],
		]);
	});

	it("answers a ping, and anything else that a device asks without repeating it", async () => {
		const { asked, say } = await connect();
		say({ jsonrpc: "2.0", id: "p", method: "ping" });
		say({ jsonrpc: "2.0", id: "q", method: "x".repeat(1_000_000) });
		await turn();
		assert.deepEqual(asked, [
			{ jsonrpc: "2.0", id: "p", result: {} },
			{ jsonrpc: "2.0", id: "q", error: { code: -32601, message: "Method not found" } },
		]);
	});

	it("ends when a device sends more messages in a second than it may", async (t) => {
		const { closed, link, say } = await connect();
		let now = performance.now();
		t.mock.method(performance, "now", () => now);
		const sayMany = (messages: number): void => {
			for (let count = 0; count < messages; count += 1) {
				say({ jsonrpc: "2.0", method: "notifications/noise" });
			}
		};
		sayMany(900);
		now += 1_000;
		sayMany(1_000);
		assert.deepEqual(closed, []);
		sayMany(1);
		assert.deepEqual(closed, ["more than 1000 messages in a second"]);
		assert.equal(link.disconnects, 1);
	});

	it("takes the answer to every call, and counts what is no JSON", async (t) => {
		const { connection, closed, answer } = await connect();
		const now = performance.now();
		t.mock.method(performance, "now", () => now);
		for (let count = 0; count < 1_100; count += 1) {
			const call = callTool(connection, "t");
			answer({ result: RESULT });
			await call;
		}
		assert.deepEqual(closed, []);
		for (let count = 0; count < 1_001; count += 1) {
			connection.receive("{");
		}
		assert.deepEqual(closed, ["more than 1000 messages in a second"]);
	});

	it("fails the calls under way when it ends, and every call after", async () => {
		const { connection, closed, link } = await connect();
		const call = callTool(connection, "t");
		connection.close("unplugged");
		connection.close("again");
		await assert.rejects(call, { code: "server-disconnected", message: "dev: unplugged" });
		await assert.rejects(connection.ping(), { code: "server-disconnected" });
		assert.deepEqual(closed, ["unplugged"]);
		assert.equal(link.disconnects, 1);
	});
});
