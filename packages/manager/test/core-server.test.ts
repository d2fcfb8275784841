import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import {
	isUserOnly,
	ServerRegistry,
	type ServerRegistryOptions,
	type ServerTool,
	type Uploads,
} from "xs-mcp-manager/core";
import { FakeConnection } from "../testing/fake-connection.js";

const TOOL = { name: "t", inputSchema: { type: "object" } } as const;
const PHOTO = { name: "t", inputSchema: { type: "object", properties: { question: {} } } } as const;
const OTHER = { name: "other", inputSchema: { type: "object" } } as const;
const START = Date.UTC(2026, 0, 2);
const RESULT = { content: [], isError: false };

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A server that is online, and its connection. */
async function open(t: TestContext, options: ServerRegistryOptions = {}) {
	t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: START });
	const servers = new ServerRegistry(options);
	const connect = (): FakeConnection => {
		const connection = new FakeConnection([TOOL, OTHER]);
		servers.connect(connection);
		return connection;
	};
	const connection = connect();
	const server = servers.get("dev");
	assert(server);
	// Loads the validator.
	await server.checkArguments(TOOL, {});
	const tick = (ms: number): void => t.mock.timers.tick(ms);
	return { servers, server, connection, connect, tick };
}

describe("a server", () => {
	it("can be called while it is connected, and was last seen at the end of its connection", async (t) => {
		const { server, connection, tick } = await open(t);
		server.event = { method: "notifications/said", params: {}, time: 0 };
		assert.deepEqual([server.online, server.connection, server.state], [true, connection, "idle"]);
		tick(5_000);
		connection.close();
		assert.deepEqual([server.online, server.connection, server.lastSeen], [false, undefined, START + 5_000]);
		assert.deepEqual([server.state, server.event], [undefined, undefined]);
		tick(5_000);
		server.disconnect();
		assert.equal(server.lastSeen, START + 5_000, "a connection that was not ready changes nothing");
	});

	it("is online anew when it connects again, and reports each notification once", async (t) => {
		const { servers, server, connection, connect } = await open(t);
		const told: unknown[] = [];
		servers.on("online", (each) => told.push(each.connection));
		servers.on("notification", (_server, method) => told.push(method));
		const next = connect();
		connection.ended("late");
		next.notified("notifications/first", {});
		assert.deepEqual(told, [next, "notifications/first"]);
		assert.equal(server.connection, next);
	});

	it("gets the requests of another gateway's clients as they are, except that it may upload in calls of its tools", async (t) => {
		const ids: unknown[] = [];
		const uploads = {
			start: async (_identity: object, { name }: ServerTool, args: object) =>
				name === PHOTO.name
					? {
							args: { ...args, upload: "here" },
							sent: (id: unknown) => ids.push(id),
							complete: (result: object) => ({ ...result, _meta: { uploaded: true } }),
							end: () => {},
						}
					: undefined,
			offered: (tools: unknown) => tools,
			end: () => {},
		} as unknown as Uploads;
		const { server, connection } = await open(t, { uploads });
		const call = { name: "t", arguments: { a: 1 } };
		const requests = [
			{ method: "tools/call", params: call, tool: PHOTO },
			{ method: "tools/call", params: { name: "other" }, tool: OTHER },
			{ method: "prompts/get", params: { name: "t" } },
		];
		const results = requests.map((request) => server.request({ ...request, isForwarded: true }));
		await settled();
		for (const pending of connection.asked) {
			pending.answered({ result: pending.request.method === "prompts/get" ? { messages: [] } : RESULT });
		}
		assert.deepEqual(await Promise.all(results), [{ ...RESULT, _meta: { uploaded: true } }, RESULT, { messages: [] }]);
		assert.deepEqual(
			new Set(connection.sent),
			new Set([
				["prompts/get", { name: "t" }],
				["tools/call", { name: "t", arguments: { a: 1, upload: "here" } }],
				["tools/call", { name: "other" }],
			]),
		);
		assert.deepEqual(ids, [connection.asked.find(({ request }) => request.params?.arguments !== undefined)?.id]);
	});
});

describe("a call that waits for its turn", () => {
	it("keeps no timer if it is cancelled while the server is offline", async () => {
		const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
		const servers = new ServerRegistry({ offlineWait: 300_000, changeDelay: 0 });
		const connection = new FakeConnection([TOOL]);
		servers.connect(connection);
		await servers.get("dev")?.checkArguments(TOOL, {});
		connection.close();
		await new Promise((resolve) => setTimeout(resolve, 5));
		const before = timers();
		const controller = new AbortController();
		const call = servers.get("dev")?.call(TOOL, {}, { signal: controller.signal });
		await settled();
		assert.equal(timers(), before + 1);
		controller.abort();
		assert.equal(timers(), before);
		await assert.rejects(call as Promise<unknown>, { code: "cancelled" });
	});

	it("has its time again when the server comes back", async (t) => {
		const { server, connection, tick } = await open(t, { callsPerServer: 1 });
		const silent = server.call(TOOL, {}, { timeout: 600_000 }).catch(() => {});
		const second = assert.rejects(server.call(OTHER, {}), {
			code: "queue-full",
			message: /had no turn within 30 s: the server is still busy with earlier ones \(1\)\. Nothing was sent to it\.$/,
		});
		await settled();
		tick(20_000);
		server.disconnect();
		server.connect(connection);
		server.discovered(server.record);
		tick(29_999);
		const third = server.call(OTHER, { third: true });
		await settled();
		tick(1);
		await second;
		connection.asked[0]?.answered({ result: RESULT });
		await silent;
		connection.asked[1]?.answered({ result: RESULT });
		await third;
		assert.deepEqual(connection.sent, [
			["tools/call", { name: "t", arguments: {} }],
			["tools/call", { name: "other", arguments: { third: true } }],
		]);
	});
});

it("a tool is only for users if nobody else is its audience", () => {
	for (const [annotations, expected] of [
		[undefined, false],
		[{}, false],
		[{ audience: "user" }, false],
		[{ audience: [] }, false],
		[{ audience: ["assistant"] }, false],
		[{ audience: ["user", "assistant"] }, false],
		[{ audience: ["user"] }, true],
	] as const) {
		assert.equal(isUserOnly({ ...TOOL, annotations } as ServerTool), expected, JSON.stringify(annotations));
	}
});
