import type { Application } from "../../src/core/application.js";
import type { Listener } from "../../src/core/listener.js";
import { SettingError } from "../../src/core/read-setting.js";
import { directFeature } from "../../src/features/direct/mcp-endpoint.js";
import { FeatureServer } from "../../src/mcp_server/features/feature-server.js";
import { Stateless } from "../../src/mcp_server/features/stateless.js";
import { string } from "../../src/mcp_server/schema.js";
import { createTool, type Tool } from "../../src/mcp_server/tool.js";
import type { ToolCall } from "../../src/mcp_server/tool-call.js";
import { meta, tool, VERSION } from "../doubles/client.js";
import { type FakeHttpConnection, FakeHttpPlatform, GOOD_HEADERS } from "../doubles/fake-http-server.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, given, matches, ok, settled, suite, throws } from "../harness.js";

function open(built: object = {}, address?: string, more: readonly Tool<undefined>[] = []) {
	const timer = new FakeTimer();
	const platform = new FakeHttpPlatform(address);
	const log: string[] = [];
	const calls: ToolCall[] = [];
	const waiting: (() => void)[] = [];
	const wait = tool("wait", async (_args, _context, call) => {
		calls.push(call);
		await new Promise<void>((resolve) => waiting.push(resolve));
		return "done";
	});
	const greet = createTool({
		name: "greet",
		description: "",
		input: { name: string({ "x-mcp-header": "Name" }) },
		run: ({ name }) => `hello ${name}`,
	});
	const server = new FeatureServer<undefined>([new Stateless<undefined>()], {
		name: "test",
		version: "1",
		context: undefined,
		tools: [wait, greet, ...more],
		timer,
	});
	const listeners: Listener[] = [];
	const source = { built: { http: 80, ...built }, settings: undefined };
	directFeature(platform).start({
		server,
		timer,
		board: {},
		hostname: "xs-mcp-56789a",
		setting: () => 32_000,
		backend: {},
		source,
		log: (message: string) => void log.push(message),
		listen: (listener: Listener) => void listeners.push(listener),
	} as unknown as Application);
	const [endpoint] = listeners;
	endpoint?.onOnline?.();
	const post = (message: unknown, headers?: Readonly<Record<string, string>>): FakeHttpConnection => {
		const connection = platform.connect();
		connection.post(typeof message === "string" ? message : JSON.stringify(message), headers);
		return connection.grant();
	};
	const finish = async (): Promise<void> => {
		for (const resolve of waiting.splice(0)) {
			resolve();
		}
		await settled();
	};
	return { timer, platform, endpoint, post, calls, finish, log };
}

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const WAIT = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "wait", _meta: { progressToken: 5 } } };

const META = meta({});
const STATELESS_HEADERS = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "greet" };

const answerOf = ({ response, sent }: FakeHttpConnection): unknown[] => [response?.status, sent && JSON.parse(sent)];

export default suite("HTTP server", {
	"answers a request with JSON, and closes the connection": given(open, ({ post, timer }) => {
		const connection = post(PING);
		equal(answerOf(connection), [200, { jsonrpc: "2.0", id: 1, result: {} }]);
		equal([...(connection.response?.headers ?? [])].sort(), [
			["connection", "close"],
			["content-length", "36"],
			["content-type", "application/json"],
		]);
		equal([connection.closed, timer.size], [true, 0]);
	}),
	"answers with an error if the result is longer than the device may queue"() {
		const { post } = open({}, undefined, [tool("huge", () => "x".repeat(10_000))]);
		const [status, answer] = answerOf(post({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "huge" } }));
		const { id, error } = answer as { id: number; error: { code: number } };
		equal([status, id, error.code], [200, 7, -32_603]);
	},
	"accepts a notification without an answer"() {
		const connection = open().post({ jsonrpc: "2.0", method: "notifications/initialized" });
		equal([connection.response?.status, connection.sent, connection.closed], [202, "", true]);
	},
	"streams what comes before the answer, and then the answer": given(open, async ({ post, calls, finish }) => {
		const connection = post(WAIT);
		equal(connection.response, undefined);
		calls[0]?.progress(1, 2);
		connection.grant();
		equal(connection.response?.headers.get("content-type"), "text/event-stream");
		equal(connection.response?.headers.has("content-length"), false);
		await finish();
		const events = connection.sent.split("\n\n");
		equal(events.length, 3);
		matches(events[0] as string, /^event: message\ndata: \{.*"progressToken":5,"progress":1/);
		matches(events[1] as string, /^event: message\ndata: \{"jsonrpc":"2.0","id":1,"result"/);
		equal(connection.closed, true);
	}),
	"rejects a request by its head"() {
		const { platform } = open({ httpToken: "secret" });
		const good = { ...GOOD_HEADERS, "content-length": "2", authorization: "Bearer secret" };
		const many = Object.fromEntries(Array.from({ length: 36 }, (_, at) => [`x${at}`, ""]));
		for (const [status, headers, method, path] of [
			[403, { host: "evil.example" }],
			[403, { host: "" }],
			[403, { origin: "https://evil.example" }],
			[403, { origin: "null" }],
			[404, {}, "POST", "/other"],
			[401, { authorization: "Bearer secreT" }],
			[401, { authorization: "Bearer secret2" }],
			[401, { authorization: "secret" }],
			[405, {}, "GET"],
			[405, {}, "DELETE"],
			[415, { "content-type": "text/plain" }],
			[406, { accept: "application/json" }],
			[406, { accept: "" }],
			[400, { "content-length": "-1" }],
			[413, { "content-length": "2001" }],
			[431, many],
		] as readonly [number, object, string?, string?][]) {
			const connection = platform.connect();
			connection.begin({ ...good, ...headers }, method, path);
			connection.end();
			equal([connection.grant().response?.status, connection.closed], [status, true]);
			matches(connection.sent, /^\{"error":".+"\}$/);
		}
	},
	"accepts the device's addresses and names, and scripts that it knows": given(open, ({ post }) => {
		for (const headers of [
			{ host: "localhost:8080" },
			{ host: "[::1]:8080" },
			{ host: "XS-MCP-56789a.local" },
			{ origin: "http://localhost:6274" },
			{ origin: "http://192.0.2.7:80" },
			{ accept: "*/*" },
			{ accept: "application/*, text/*;q=0.5" },
			{ accept: "Application/JSON, Text/Event-Stream" },
			{ "content-type": "Application/JSON" },
			{ "content-type": "application/json; charset=utf-8" },
		] as readonly Record<string, string>[]) {
			equal(post(PING, headers).response?.status, 200);
		}
	}),
	"serves at /mcp/, and a client that names no accepted types": given(open, ({ platform }) => {
		const { accept: _, ...headers } = GOOD_HEADERS;
		const connection = platform.connect();
		const body = JSON.stringify(PING);
		connection.begin({ ...headers, "content-length": String(body.length) }, "POST", "/mcp/?x");
		connection.arrive(body);
		connection.end();
		equal(connection.grant().response?.status, 200);
	}),
	"lists all tools on one page, also to stateless clients"() {
		const run = (): boolean => true;
		const many = Array.from({ length: 40 }, (_, at) =>
			createTool({ name: `t${at}`, description: "x".repeat(400), run }),
		);
		const { post } = open({}, undefined, many);
		for (const [message, headers] of [
			[{ jsonrpc: "2.0", id: 1, method: "tools/list" }, {}],
			[
				{ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: meta() } },
				{ "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
			],
		] as const) {
			const connection = post(message, headers);
			for (let turn = 0; turn < 100; turn += 1) {
				connection.grant();
			}
			const { result } = JSON.parse(connection.sent);
			equal([result.tools.length, result.nextCursor], [42, undefined]);
		}
	},
	"answers a rejected request when it is whole, or at once if its body is long or without a length"() {
		const { platform, timer } = open();
		const short = platform.connect();
		short.begin({ ...GOOD_HEADERS, "content-length": "2100" });
		short.arrive("x".repeat(2_100));
		timer.pass(1);
		equal(short.response, undefined);
		short.end();
		equal(short.grant().response?.status, 413);
		for (const [status, headers] of [
			[413, { "content-length": "70000" }],
			[411, { "transfer-encoding": "chunked" }],
		] as const) {
			const connection = platform.connect();
			connection.begin({ ...GOOD_HEADERS, ...headers });
			timer.pass(1);
			equal(connection.response?.status, status);
			connection.arrive("more");
			connection.grant();
		}
	},
	"gives up a request that is not whole in time, and a response that is not read"() {
		const { platform, timer } = open();
		const slow = platform.connect();
		slow.begin({ ...GOOD_HEADERS, "content-length": "10" });
		timer.pass(9_000);
		slow.arrive("{");
		equal(slow.response, undefined);
		timer.pass(1_000);
		equal(slow.grant().response?.status, 408);
		const unread = platform.connect();
		unread.post(JSON.stringify(PING));
		timer.pass(30_000);
		equal([unread.response?.status, unread.closed, timer.size], [200, true, 0]);
	},
	async "serves three requests at a time; others wait in the network's queue, however many they are"() {
		const { platform, post, timer, finish } = open();
		const served = [post(WAIT), post(WAIT), post(WAIT)];
		const waiting = Array.from({ length: 8 }, () => platform.connect());
		timer.pass(60_000);
		const taken = () => waiting.filter(({ events }) => events !== undefined).length;
		equal(taken(), 0);
		await finish();
		for (const connection of served) {
			connection.grant();
		}
		equal(taken(), 3);
		for (const connection of waiting) {
			connection.post(JSON.stringify(PING));
			equal(connection.grant().response?.status, 200);
		}
	},
	"closes silent connections while others wait, so that they lock out no client"() {
		const { platform, timer } = open();
		const silent = Array.from({ length: 5 }, () => platform.connect());
		const client = platform.connect();
		const closed = (): number => silent.filter((connection) => connection.closed).length;
		equal([closed(), client.events], [0, undefined]);
		timer.pass(1_000);
		equal(closed(), 3);
		client.post(JSON.stringify(PING));
		equal([client.grant().response?.status, closed()], [200, 3]);
	},
	"does not close a connection with a good head, nor a silent one that is in nobody's way"() {
		const { platform, timer } = open();
		const alone = platform.connect();
		timer.pass(5_000);
		equal(alone.closed, false);
		const slow = platform.connect();
		slow.begin({ ...GOOD_HEADERS, "content-length": "6" });
		const silent = platform.connect();
		const next = platform.connect();
		equal([alone.closed, next.events !== undefined], [true, true]);
		platform.connect();
		timer.pass(4_000);
		equal([slow.closed, silent.closed, next.closed], [false, true, false]);
	},
	"cancels a call if its client closes the connection": given(open, async ({ post, calls, timer }) => {
		post(WAIT).events?.onError();
		equal([calls[0]?.cancelled, timer.size], [true, 0]);
		await settled();
	}),
	"says that it serves once its port is open": given(open, ({ platform, log }) => {
		equal(log, []);
		platform.listen();
		equal(log, ["serving MCP at 127.0.0.1:80"]);
	}),
	"closes everything with the port": given(open, ({ platform, endpoint, post, calls, timer }) => {
		const connections = [post(WAIT), post(WAIT), platform.connect()];
		const waiting = platform.connect();
		endpoint?.onOffline?.();
		const closed = connections.map(({ closed }) => closed);
		equal(closed, [true, true, true]);
		equal(waiting.events, undefined, "none is served in the place of one that ends");
		equal([platform.isOpen, calls[0]?.cancelled, timer.size], [false, true, 0]);
	}),
	"answers what it cannot read, or what names a revision that it does not know, with 400": given(open, ({ post }) => {
		for (const text of ["{", "[]", "5", "\u{0}"]) {
			equal(post(text).response?.status, 400);
		}
		equal(post(PING, { "mcp-protocol-version": "2020-01-01" }).response?.status, 400);
		equal(post(PING, { "mcp-protocol-version": "2025-11-25" }).response?.status, 200);
	}),
	"remembers what a client said of itself": given(open, ({ post, calls }) => {
		const hello = { protocolVersion: "2025-11-25", capabilities: { sampling: {} } };
		const initialized = post({ jsonrpc: "2.0", id: 0, method: "initialize", params: hello });
		const id = initialized.response?.headers.get("mcp-session-id") ?? "";
		post(WAIT, { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" });
		post(WAIT, { "mcp-session-id": "other" });
		const known = calls.map(({ client }) => client.capabilities);
		equal(known, [{ sampling: {} }, {}]);
	}),
	"compares the headers of a stateless request with its body": given(open, ({ post }) => {
		const params = { name: "greet", arguments: { name: "Zoë" }, _meta: META };
		const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
		const encoded = "=?base64?Wm/Dqw==?=";
		const good = post(call, { ...STATELESS_HEADERS, "mcp-param-name": encoded });
		equal(good.response?.status, 200);
		matches(good.sent, /"resultType":"complete".*hello Zoë/);
		for (const headers of [
			{},
			{ "mcp-param-name": "Zoe" },
			{ "mcp-param-name": "=?base64?Wm/Dqw?=" },
			{ "mcp-param-name": encoded, "mcp-name": "wait" },
			{ "mcp-param-name": encoded, "mcp-method": "tools/list" },
			{ "mcp-param-name": encoded, "mcp-protocol-version": "2025-11-25" },
		] as readonly Record<string, string>[]) {
			const { response, sent } = post(call, { ...STATELESS_HEADERS, ...headers });
			equal([response?.status, JSON.parse(sent).error.code], [400, -32020]);
		}
		const { sent } = post({ ...call, params: { ...params, name: { toString: 1 } } }, STATELESS_HEADERS);
		equal(JSON.parse(sent).error.code, -32020);
	}),
	"says by the status what is wrong with a stateless request": given(open, ({ post }) => {
		const status = (method: string, _meta: object): number | undefined =>
			post(
				{ jsonrpc: "2.0", id: 1, method, params: { _meta } },
				{ "mcp-protocol-version": "2026-07-28", "mcp-method": method },
			).response?.status;
		equal(status("tools/list", META), 200);
		equal(status("ping", META), 404);
		equal(status("tools/list", {}), 400);
		equal(status("tools/list", { [VERSION]: "2026-07-28" }), 400);
	}),
	"is off unless a port is set, and rejects settings that it cannot use"() {
		equal(open({ http: "" }).endpoint, undefined);
		equal(open({ http: "80" }).platform.isOpen, true);
		equal(open({ httpToken: "t" }, "0.0.0.0").platform.isOpen, true);
		for (const [built, expected] of [
			[{ http: 0 }, /^http: expected a whole number from 1 to 65535/],
			[{ http: "many" }, /^http: expected a whole number from 1 to 65535/],
			[{ httpToken: "" }, /^httpToken: a device that listens on 0.0.0.0 needs a token/],
			[{ httpToken: "two words" }, /^httpToken: expected printable/],
			[{ httpToken: 5 }, /^httpToken: expected a string, got number$/],
		] as const) {
			const error = throws(() => open(built, "0.0.0.0"), expected);
			ok(error instanceof SettingError);
		}
	},
});
