import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Session } from "xs-mcp-manager/core";
import { DeviceTransport } from "../../../gateway/src/devices/device-transport.js";
import { callTool } from "../../../host-test/support/call-tool.js";

// A device at the other end of a connection in memory: what it is asked is seen, what it answers is said.

interface Payload {
	readonly id?: number;
	readonly method?: string;
	readonly params?: Readonly<Record<string, unknown>>;
}

class MemoryTransport extends DeviceTransport {
	readonly asked: Payload[] = [];
	/** Messages besides MCP. */
	readonly others: Readonly<Record<string, unknown>>[] = [];
	disconnects = 0;

	protected override write(text: string): void {
		const message = JSON.parse(text) as { type: string; payload: Payload };
		if (message.type === "mcp") {
			this.asked.push(message.payload);
		} else {
			this.others.push(message);
		}
	}

	protected override disconnect(): void {
		this.disconnects += 1;
	}

	/** A message of the device's. */
	say(payload: unknown): void {
		this.receive({ type: "mcp", payload });
	}
}

const INITIALIZED = {
	protocolVersion: "2025-11-25",
	capabilities: { tools: {} },
	serverInfo: { name: "lamp", version: "1.0.0" },
};

async function connect(initializeResult: object = INITIALIZED, more: { configured?: true } = {}) {
	const identity = { id: "dev", clientId: "uuid", transport: "test", ...more };
	const transport = new MemoryTransport(identity, { maxMessageBytes: 8_192 });
	const session = new Session(transport);
	const invalid: string[] = [];
	const closed: string[] = [];
	session.on("invalid", (description) => invalid.push(description));
	session.on("closed", (reason) => closed.push(reason));
	const initialized = session.initialize();
	/** Answers the latest request. */
	const answer = (member: object): void =>
		transport.say({ jsonrpc: "2.0", id: transport.asked.filter(({ id }) => id !== undefined).at(-1)?.id, ...member });
	await turn();
	answer({ result: initializeResult });
	const board = await initialized;
	transport.asked.length = 0;
	return { session, transport, asked: transport.asked, invalid, closed, answer, board };
}

const RESULT = { content: [{ type: "text", text: "ok" }], isError: false };

describe("a session with a device", () => {
	it("begins with initialize, and takes what a device of the family leaves out as the oldest revision has it", async () => {
		const { session, board } = await connect({ serverInfo: { name: "esp", version: 2 } });
		assert.deepEqual(board, { name: "esp", version: "2" });
		assert.equal(session.revision, "2024-11-05");
	});

	it("lists all pages", async () => {
		const { session, asked, answer } = await connect();
		const list = session.list("tools", { withUserTools: true });
		await turn();
		answer({ result: { tools: [{ name: "a", inputSchema: {} }], nextCursor: "b" } });
		await turn();
		assert.deepEqual(asked.at(-1)?.params, { cursor: "b", withUserTools: true });
		answer({ result: { tools: [{ name: "b", inputSchema: {} }] } });
		assert.deepEqual(await list, [
			{ name: "a", inputSchema: {} },
			{ name: "b", inputSchema: {} },
		]);
	});

	it("lists the pages of a configured server as MCP has it: the first without a cursor", async () => {
		const { session, asked, answer } = await connect(INITIALIZED, { configured: true });
		const list = session.list("tools", { withUserTools: true });
		for (const nextCursor of ["b", undefined]) {
			await turn();
			answer({ result: { tools: [], ...(nextCursor !== undefined && { nextCursor }) } });
		}
		await list;
		const found = asked.map(({ params }) => params);
		assert.deepEqual(found, [{}, { cursor: "b" }]);
	});

	it("rejects a call at once whose message the device cannot take, and goes on", async () => {
		const { session, asked, answer } = await connect();
		await assert.rejects(callTool(session, "t", { text: "x".repeat(9_000) }), {
			code: "invalid-arguments",
			message: /^message too large for the device: 9[0-9]+ bytes \(limit 8192\)$/,
		});
		let nested: unknown = 1;
		for (let level = 0; level < 30; level += 1) {
			nested = [nested];
		}
		await assert.rejects(callTool(session, "t", { nested }), {
			code: "invalid-arguments",
			message: /nested too deeply/,
		});
		assert.deepEqual(asked, []);
		const call = callTool(session, "t");
		answer({ result: RESULT });
		await call;
	});

	it("passes progress to the call that it belongs to, and gives that call its time again", async (t) => {
		t.mock.timers.enable({ apis: ["setTimeout"] });
		const { session, asked, transport, answer } = await connect();
		const seen: unknown[] = [];
		const call = callTool(session, "t", {}, { timeout: 200, onProgress: ({ progress }) => seen.push(progress) });
		const { progressToken } = (asked[0]?.params?._meta ?? {}) as { progressToken?: unknown };
		for (let progress = 1; progress <= 4; progress += 1) {
			t.mock.timers.tick(80);
			transport.say({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress } });
			await turn();
		}
		transport.say({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "x", progress: 9 } });
		await turn();
		answer({ result: RESULT });
		await call;
		assert.deepEqual(seen, [1, 2, 3, 4]);
	});

	it("reports progress that is not valid, or that no call has asked for", async () => {
		const { session, asked, transport, answer, invalid } = await connect();
		const call = callTool(session, "t");
		for (const params of [{}, { progressToken: asked[0]?.id, progress: 1 }, { progressToken: "none", progress: "1" }]) {
			transport.say({ jsonrpc: "2.0", method: "notifications/progress", params });
		}
		answer({ result: RESULT });
		await call;
		assert.equal(invalid.length, 3);
	});

	it("answers the ping of a device", async () => {
		const { asked, transport } = await connect();
		transport.say({ jsonrpc: "2.0", id: "p", method: "ping" });
		await turn();
		assert.deepEqual(asked, [{ jsonrpc: "2.0", id: "p", result: {} }]);
	});

	it("rejects answers that are not valid", async () => {
		for (const member of [{}, { result: 5 }, { result: [] }]) {
			const { session, answer } = await connect();
			const call = callTool(session, "t");
			answer(member);
			await assert.rejects(call, { code: "invalid-result" }, JSON.stringify(member));
		}
	});

	it("drops and reports messages that are not valid", async () => {
		const { invalid, transport } = await connect();
		for (const message of [5, null, [], {}, { id: 99, result: {} }, { id: "1", result: {} }, { method: "x", id: {} }]) {
			transport.say(message);
		}
		assert.equal(invalid.length, 7);
		transport.receive({ type: "mcp", session_id: "another", payload: {} });
		assert.match(invalid.at(-1) ?? "", /another session/);
	});

	it("knows what a device declares", async () => {
		const withCapabilities = async (capabilities: object) => {
			const { session } = await connect({ ...INITIALIZED, capabilities });
			return [
				session.declares("resources"),
				session.canSubscribe,
				session.isStateless,
				session.problemOf("tools", { inputSchema: { "x-mcp-header": "A" } }),
			];
		};
		assert.deepEqual(await withCapabilities({}), [false, false, false, undefined]);
		assert.deepEqual(await withCapabilities({ resources: {} }), [true, false, false, undefined]);
		assert.deepEqual(await withCapabilities({ resources: { subscribe: true } }), [true, true, false, undefined]);
		for (const [stateless, expected] of [
			[{}, false],
			[{ supportedVersions: "2026-07-28" }, false],
			[{ supportedVersions: ["2099-01-01"] }, false],
			[{ supportedVersions: ["2026-07-28"] }, true],
		] as const) {
			const [, , isStateless] = await withCapabilities({ experimental: { stateless } });
			assert.equal(isStateless, expected, JSON.stringify(stateless));
		}
	});

	it("asks for log messages only if the device declares them", async () => {
		const { session, asked, answer } = await connect({ ...INITIALIZED, capabilities: { tools: {}, logging: {} } });
		const call = callTool(session, "t", {}, { logLevel: "warning" });
		await turn();
		const found = asked.map(({ method, params }) => [method, params?.level]);
		assert.deepEqual(found, [
			["logging/setLevel", "warning"],
			["tools/call", undefined],
		]);
		answer({ result: RESULT });
		await call;
		session.close();
		const silent = await connect();
		void callTool(silent.session, "t", {}, { logLevel: "warning" }).catch(() => {});
		await turn();
		const methods = silent.asked.map(({ method }) => method);
		assert.deepEqual(methods, ["tools/call"]);
		silent.session.close();
	});

	it("takes as log messages only the notifications that are", async () => {
		const { session, transport, answer } = await connect();
		const logged: unknown[] = [];
		const call = callTool(session, "t", {}, { onLog: ({ data }) => logged.push(data) });
		for (const method of ["notifications/other", "notifications/message"]) {
			transport.say({ jsonrpc: "2.0", method, params: { level: "info", data: method } });
			await turn();
		}
		answer({ result: RESULT });
		await call;
		assert.deepEqual(logged, ["notifications/message"]);
	});

	it("sends messages besides MCP, with the id of the session", async () => {
		const { session, transport } = await connect();
		session.sendMessage({ type: "tts", state: "start" });
		const [{ session_id: id, ...message } = {}] = transport.others;
		assert.deepEqual([typeof id, message], ["string", { type: "tts", state: "start" }]);
	});

	it("tells of progress and cancellation apart from other notifications", async () => {
		const { session, transport } = await connect();
		const told: unknown[] = [];
		session.on("notification", (method, params) => told.push(["notification", method, params]));
		session.on("requestNotification", (method, params) => told.push(["of a request", method, params]));
		for (const method of ["notifications/progress", "notifications/cancelled", "notifications/other"]) {
			transport.say({ jsonrpc: "2.0", method, params: { progressToken: 1, requestId: 1, progress: 1 } });
			await turn();
		}
		transport.say({ jsonrpc: "2.0", method: "notifications/bare" });
		await turn();
		const params = { progressToken: 1, requestId: 1, progress: 1 };
		assert.deepEqual(told, [
			["of a request", "notifications/progress", params],
			["of a request", "notifications/cancelled", params],
			["notification", "notifications/other", params],
			["notification", "notifications/bare", {}],
		]);
	});

	it("answers what a device asks of it, without repeating what it was asked", async () => {
		const { asked, transport } = await connect();
		transport.say({ jsonrpc: "2.0", id: "q", method: "x".repeat(1_000_000) });
		await turn();
		assert.deepEqual(asked, [{ jsonrpc: "2.0", id: "q", error: { code: -32601, message: "Method not found" } }]);
	});

	it("ends when a device sends more messages in a second than it may", async (t) => {
		const { closed, transport } = await connect();
		let now = performance.now();
		t.mock.method(performance, "now", () => now);
		const say = (messages: number): void => {
			for (let count = 0; count < messages; count += 1) {
				transport.say({ jsonrpc: "2.0", method: "notifications/noise" });
			}
		};
		say(900);
		now += 1_000;
		say(1_000);
		assert.deepEqual(closed, []);
		say(1);
		assert.deepEqual(closed, ["more than 1000 messages in a second"]);
		assert.equal(transport.disconnects, 1);
	});

	it("fails the calls under way when it ends, and every call after", async () => {
		const { session, closed, transport } = await connect();
		const call = callTool(session, "t");
		session.close("unplugged");
		session.close("again");
		await assert.rejects(call, { code: "server-disconnected", message: "dev: unplugged" });
		await assert.rejects(session.ping(), { code: "server-disconnected" });
		assert.deepEqual(closed, ["unplugged"]);
		assert.equal(transport.disconnects, 1);
	});
});
