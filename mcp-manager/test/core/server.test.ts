import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { CallDetails, CallRecord, Uploads } from "../../src/core/calls.js";
import { NO_OFFERS, type ServerTool } from "../../src/core/offers.js";
import type { SchemaChecker } from "../../src/core/schema-checker.js";
import { isUserOnly, Server, type ServerContext } from "../../src/core/server.js";
import type { Session } from "../../src/core/session.js";

const TOOL = { name: "t", inputSchema: { type: "object" } } as const;
const LAST_SEEN = Date.UTC(2026, 0, 2);
const RECORD = { id: "dev", alias: "lamp", board: { name: "lamp", version: "1" }, offers: NO_OFFERS };

/** A known server that is offline, a session with it, and the calls that it is asked. */
function open(t: TestContext, context: Partial<ServerContext> = {}) {
	t.mock.timers.enable({ apis: ["setTimeout", "Date"], now: LAST_SEEN });
	const calls: CallRecord[] = [];
	const details: CallDetails[] = [];
	const problems: string[] = [];
	const checker: Pick<SchemaChecker, "check"> = { check: async () => problems.shift() };
	const server = new Server("dev", {
		checker: checker as SchemaChecker,
		onCall(record, detail) {
			calls.push(record);
			details.push(detail);
		},
		onUpdated() {},
		warn() {},
		...context,
	});
	server.update({ ...RECORD, lastSeen: LAST_SEEN });
	const forwarded: unknown[] = [];
	const asked: { answer: (result: unknown) => void; fail: (error: Error) => void }[] = [];
	const session = {
		identity: { id: "dev" },
		connected: true,
		request: () => new Promise((resolve, reject) => asked.push({ answer: resolve, fail: reject })),
		forward: async (...request: unknown[]) => {
			forwarded.push(request.slice(0, 2));
			return RESULT;
		},
	};
	const online = (): void => {
		server.connect(session as unknown as Session);
		server.discovered({ ...RECORD, lastSeen: LAST_SEEN });
	};
	const call = () => server.calls.call("ann", TOOL, {}, { clientName: "chat" });
	const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
	return { server, online, call, asked, forwarded, calls, details, problems, settled };
}

const RESULT = { content: [], isError: false };

describe("a server", () => {
	it("can be called while its session lasts, and was last seen at its end", (t) => {
		const { server, online } = open(t);
		assert.deepEqual([server.online, server.session, server.lastSeen], [false, undefined, LAST_SEEN]);
		online();
		server.state = "idle";
		server.event = { method: "notifications/said", params: {}, time: 0 };
		assert.deepEqual([server.online, server.state], [true, "idle"]);
		t.mock.timers.tick(5_000);
		server.disconnect();
		assert.deepEqual([server.online, server.session, server.lastSeen], [false, undefined, LAST_SEEN + 5_000]);
		assert.deepEqual([server.state, server.event], [undefined, undefined]);
		t.mock.timers.tick(5_000);
		server.disconnect();
		assert.equal(server.lastSeen, LAST_SEEN + 5_000, "a session that was not ready changes nothing");
	});

	it("gets the requests of another gateway's clients as they are, except that it may upload in calls of its tools", async (t) => {
		const uploads = {
			start: async (_identity: object, _tool: ServerTool, args: object) => ({
				args: { ...args, upload: "here" },
				complete: (result: object) => ({ ...result, _meta: { uploaded: true } }),
				end: () => {},
			}),
		} as unknown as Uploads;
		const { server, online, forwarded } = open(t, { uploads });
		online();
		server.discovered({ ...RECORD, offers: { ...NO_OFFERS, tools: [TOOL] }, lastSeen: LAST_SEEN });
		assert.deepEqual(await server.calls.relay("tools/call", { name: "t", arguments: { a: 1 } }), {
			...RESULT,
			_meta: { uploaded: true },
		});
		for (const [method, params] of [
			["tools/call", { name: "another" }],
			["prompts/get", { name: "t" }],
		] as const) {
			assert.deepEqual(await server.calls.relay(method, params), RESULT);
		}
		assert.deepEqual(forwarded, [
			["tools/call", { name: "t", arguments: { a: 1, upload: "here" } }],
			["tools/call", { name: "another" }],
			["prompts/get", { name: "t" }],
		]);
	});
});

describe("a tool", () => {
	it("is only for users if nobody else is its audience", () => {
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
});
