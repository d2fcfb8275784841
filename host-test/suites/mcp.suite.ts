import { audio, image, resourceLink, text } from "../../src/mcp_server/content.js";
import { RpcError } from "../../src/mcp_server/json-rpc.js";
import { McpServer } from "../../src/mcp_server/mcp-server.js";
import { boolean, integer, object, string } from "../../src/mcp_server/schema.js";
import { createTool, type Tool } from "../../src/mcp_server/tool.js";
import type { ToolCall } from "../../src/mcp_server/tool-call.js";
import { mcpWrapper } from "../../src/protocols/envelope.js";
import type { PiecedText, Sendable } from "../../src/text/pieced-text.js";
import { Client, clientWith, settled } from "../doubles/client.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, matches, ok, suite, throws } from "../harness.js";

type NoInput = Record<never, never>;

function tool(name: string, run: (args: unknown, context: undefined, call: ToolCall) => unknown): Tool<undefined> {
	return createTool<undefined, NoInput, NoInput>({ name, description: "", run: run as () => string });
}

/** A tool that ends when the test says so. */
function slow(name = "slow") {
	const calls: { resolve(value: unknown): void; reject(error: unknown): void; call: ToolCall }[] = [];
	const made = tool(
		name,
		(_args, _context, call) => new Promise((resolve, reject) => calls.push({ resolve, reject, call })),
	);
	return { tool: made, calls };
}

/** A client of a server with a tool that sleeps, its time, and what the tool met with. */
function sleepy() {
	const timer = new FakeTimer();
	const log: string[] = [];
	let delay = 0;
	const sleeper = tool("sleeper", async (_args, _context, call) => {
		try {
			await call.sleep(delay);
		} catch (error) {
			log.push((error as Error).name);
			throw error;
		}
		return "awake";
	});
	const client = new Client<undefined>({ context: undefined, tools: [sleeper], timer });
	client.initialize("2025-11-25");
	const start = (id: number, milliseconds: number): unknown[] => {
		delay = milliseconds;
		return client.say(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"sleeper"}}`);
	};
	const answers = (): [unknown, unknown][] => client.heard().map(({ id, result }) => [id, result.content[0].text]);
	return { client: Object.assign(client, { start, answers }), timer, log };
}

const numbered = (count: number, words: string, audience?: "user"): Tool<undefined>[] =>
	Array.from({ length: count }, (_, at) =>
		createTool<undefined, NoInput, NoInput>({
			name: `${audience ?? "common"}.${at}`,
			description: words,
			...(audience && { audience }),
			run: () => at,
		}),
	);

export default suite("MCP", {
	"answers initialize with the revision asked for, where it knows it"() {
		for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
			equal(clientWith().initialize(revision).result.protocolVersion, revision);
		}
	},
	"answers initialize with its newest revision, where it does not"() {
		equal(clientWith().initialize("2099-01-01").result.protocolVersion, "2025-11-25");
	},
	"takes a client that names no revision for one of 2024-11-05"() {
		equal(clientWith().ask("initialize").result, {
			protocolVersion: "2024-11-05",
			capabilities: { tools: { listChanged: true } },
			serverInfo: { name: "test", version: "1.2.3" },
		});
	},
	"names the member of initialize that has the wrong type"() {
		matches(clientWith().ask("initialize", { protocolVersion: 7 }).error.message, /protocolVersion/);
		matches(clientWith().ask("initialize", { capabilities: [] }).error.message, /capabilities/);
	},
	"keeps capabilities of up to 1024 characters, and logs that it drops longer ones"() {
		for (const length of [1024, 1025]) {
			const log: string[] = [];
			const client = new Client<undefined>({ context: undefined, log: (line) => log.push(line) });
			const capabilities = { a: "x".repeat(length - '{"a":""}'.length) };
			client.initialize("2025-11-25", capabilities);
			equal(client.session.client.capabilities, length > 1024 ? {} : capabilities);
			equal(log, length > 1024 ? ["capabilities dropped: 1025 characters (limit 1024)"] : []);
		}
	},
	"keeps the client's capabilities, vision among them"() {
		const client = clientWith();
		client.initialize("2024-11-05", { sampling: {}, vision: { url: "http://v/explain", token: "t" } });
		equal(client.session.client.capabilities.sampling, {});
		equal(client.session.client.vision, { url: "http://v/explain", token: "t" });
		equal(client.session.client.name, "tester");
	},
	"goes on without a vision service whose URL is not http"() {
		const log: string[] = [];
		const client = new Client<undefined>({ context: undefined, log: (line) => log.push(line) });
		ok(client.initialize("2024-11-05", { vision: { url: "ws://v" } }).result);
		equal(client.session.client.vision, undefined);
		matches(log.join(), /vision\.url/);
	},
	"answers requests before initialize"() {
		equal(clientWith().ask("tools/list").result, { tools: [] });
	},
	"lists a tool with its schema"() {
		const set = createTool({
			name: "set",
			title: "Set it",
			description: "Sets.",
			input: { volume: integer({ minimum: 0, maximum: 100 }), why: { optional: string() } },
			output: { done: boolean() },
			annotations: { idempotentHint: true },
			run: () => ({ done: true }),
		});
		const client = clientWith(set as Tool<undefined>);
		client.ask("initialize", { protocolVersion: "2025-03-26" });
		equal(client.ask("tools/list").result.tools, [
			{
				name: "set",
				description: "Sets.",
				inputSchema: {
					type: "object",
					properties: { volume: { type: "integer", minimum: 0, maximum: 100 }, why: { type: "string" } },
					required: ["volume"],
				},
				title: "Set it",
				outputSchema: { type: "object", properties: { done: { type: "boolean" } }, required: ["done"] },
				annotations: { idempotentHint: true },
			},
		]);
	},
	"lists whom a tool is for beside its other annotations"() {
		for (const [audience, annotations] of [
			["user", { idempotentHint: true, audience: ["user"] }],
			[undefined, { idempotentHint: true }],
		] as const) {
			const set = createTool({
				name: "set",
				description: "",
				annotations: { idempotentHint: true },
				...(audience && { audience }),
				run: () => true,
			});
			const client = clientWith(set as Tool<undefined>);
			client.initialize("2025-03-26");
			equal(client.ask("tools/list", { withUserTools: true }).result.tools[0].annotations, annotations);
		}
	},
	"knows which messages come most"() {
		const { server } = clientWith();
		for (const [method, isCommon] of [
			["tools/call", true],
			["tools/list", true],
			["ping", true],
			["initialize", false],
			[undefined, false],
		] as const) {
			equal(server.isCommon({ method }), isCommon, method ?? "no method");
		}
		equal(server.isCommon(null), false);
	},
	"lists a tool for a client of 2024-11-05 without what came later, except whom it is for"() {
		const base = { name: "set", description: "Sets.", run: () => ({ done: true }) };
		const later = { title: "Set it", output: { done: boolean() }, annotations: { idempotentHint: true } };
		for (const audience of [undefined, "user"] as const) {
			const set = createTool({ ...base, ...later, ...(audience && { audience }) });
			const { tools } = clientWith(set as Tool<undefined>).ask("tools/list", { withUserTools: true }).result;
			const { name, description } = base;
			const plain = { name, description, inputSchema: { type: "object", properties: {} } };
			equal(tools, [audience === undefined ? plain : { ...plain, annotations: { audience: ["user"] } }]);
		}
	},
	"pages a list within its bytes, the envelope counted, and loses and doubles nothing"() {
		for (const words of ["short", "x".repeat(700), "説明".repeat(200), "😀".repeat(150)]) {
			const client = new Client<undefined>({
				context: undefined,
				tools: numbered(40, words),
				wrapper: mcpWrapper("a-session-id"),
			});
			const names: string[] = [];
			let cursor: string | undefined = "";
			while (cursor !== undefined) {
				client.session.receive({ jsonrpc: "2.0", id: 2, method: "tools/list", params: { cursor } });
				const page = client.texts[0] as string;
				ok(ArrayBuffer.fromString(page).byteLength <= 8000, "page too long");
				const { result } = client.heard()[0].payload;
				names.push(...result.tools.map((listed: { name: string }) => listed.name));
				cursor = result.nextCursor;
			}
			equal(
				names,
				numbered(40, words).map(({ name }) => name),
			);
		}
	},
	"fills its pages"() {
		const client = new Client<undefined>({ context: undefined, tools: numbered(40, "x".repeat(700)) });
		client.session.receive({ jsonrpc: "2.0", id: 2, method: "tools/list" });
		ok((client.texts[0] as string).length > 8000 - 2 * 800, "room for another tool");
	},
	"hands over a page in pieces, and its length in bytes first"() {
		for (const [words, id] of [
			["short", 1],
			["説明😀".repeat(60), 'quo"te 語'],
			["x".repeat(3000), -7],
		] as const) {
			const pages: Sendable[] = [];
			const server = new McpServer({ name: "", version: "", context: undefined, tools: numbered(12, words) });
			const session = server.open({ send: (page) => pages.push(page), wrapper: mcpWrapper("session 語") });
			session.receive({ jsonrpc: "2.0", id, method: "tools/list" });
			const page = pages[0] as PiecedText;
			const whole = String(page);
			let taken = "";
			let takes = 0;
			while (ArrayBuffer.fromString(taken).byteLength < page.bytes) {
				taken += page.take();
				takes += 1;
			}
			equal([taken, ArrayBuffer.fromString(taken).byteLength], [whole, page.bytes]);
			equal(JSON.parse(taken).payload.id, id);
			ok(takes > 1, "all at once");
		}
	},
	"lists user tools only when asked, after the common ones, and marked"() {
		const client = clientWith(...numbered(1, "", "user"), ...numbered(2, ""));
		const names = (params: object) =>
			client.ask("tools/list", params).result.tools.map((listed: { name: string }) => listed.name);
		equal(names({}), ["common.0", "common.1"]);
		equal(names({ withUserTools: true }), ["common.0", "common.1", "user.0"]);
		equal(client.ask("tools/list", { withUserTools: true }).result.tools[2].annotations, { audience: ["user"] });
	},
	"rejects a cursor that it did not give, and names it"() {
		for (const cursor of ["nonsense", 5]) {
			const { error } = clientWith().ask("tools/list", { cursor });
			equal(error.code, -32602);
			matches(error.message, /cursor/);
		}
		matches(clientWith().ask("tools/list", { withUserTools: "yes" }).error.message, /^withUserTools/);
	},
	"turns booleans, numbers and strings into text"() {
		for (const [value, words] of [
			[true, "true"],
			[false, "false"],
			[50, "50"],
			[0.5, "0.5"],
			['a"b', 'a"b'],
		]) {
			equal(clientWith(tool("t", () => value)).call("t").result, {
				content: [{ type: "text", text: words }],
				isError: false,
			});
		}
	},
	"gives a result that is JSON, but no object, as structured content too since 2025-06-18"() {
		const cases: [unknown, unknown][] = [
			[true, { result: true }],
			[50, { result: 50 }],
			[" 7 ", { result: 7 }],
			["null", { result: null }],
			[text("[1]"), { result: [1] }],
			[[text("true")], { result: true }],
			[[1, 2], { result: [1, 2] }],
			["seven", undefined],
			["true enough", undefined],
			['{"a":1}', undefined],
			["", undefined],
			[[text("true"), image("aW1n", "image/png")], undefined],
			[[text("1"), text("2")], undefined],
			[image("aW1n", "image/png"), undefined],
			[resourceLink({ uri: "http://x", name: "n" }), undefined],
		];
		for (const [value, structured] of cases) {
			const client = clientWith(tool("t", () => value));
			const { content } = client.call("t").result;
			for (const revision of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
				client.initialize(revision);
				const { result } = client.call("t");
				equal(result.structuredContent, revision === "2025-03-26" ? undefined : structured, JSON.stringify(value));
				equal(result.content.length, content.length);
			}
		}
		const failing = clientWith(
			tool("t", () => {
				throw new Error("5");
			}),
		);
		failing.initialize("2025-11-25");
		equal(failing.call("t").result, { content: [{ type: "text", text: "5" }], isError: true });
	},
	"turns an object into JSON, and structured content since 2025-06-18"() {
		const client = clientWith(tool("t", () => ({ a: [1] })));
		equal(client.call("t").result, { content: [{ type: "text", text: '{"a":[1]}' }], isError: false });
		client.initialize("2025-06-18");
		equal(client.call("t").result.structuredContent, { a: [1] });
	},
	"sends MCP content as it is, and as text to clients that do not know it"() {
		const content = [
			text("t"),
			image("aW1n", "image/png"),
			audio("c25k", "audio/ogg"),
			resourceLink({ uri: "http://x", name: "n" }),
		];
		const client = clientWith(tool("t", () => content));
		client.initialize("2025-11-25");
		equal(client.call("t").result.content, [
			{ type: "text", text: "t" },
			{ type: "image", data: "aW1n", mimeType: "image/png" },
			{ type: "audio", data: "c25k", mimeType: "audio/ogg" },
			{ type: "resource_link", uri: "http://x", name: "n" },
		]);
		client.initialize("2024-11-05");
		equal(
			client.call("t").result.content.map((item: { type: string }) => item.type),
			["text", "image", "text", "text"],
		);
	},
	"lists an output schema and sends what it promises"() {
		const typed = createTool({ name: "t", description: "", output: { level: integer() }, run: () => ({ level: 3 }) });
		const client = clientWith(typed as Tool<undefined>);
		client.initialize("2025-11-25");
		equal(client.ask("tools/list").result.tools[0].outputSchema, {
			type: "object",
			properties: { level: { type: "integer" } },
			required: ["level"],
		});
		equal(client.call("t").result.structuredContent, { level: 3 });
	},
	"answers an unknown tool as the revision wants it"() {
		const client = clientWith();
		equal(client.call("gone").error, { code: -32601, message: "Unknown tool: gone" });
		for (const [revision, expected] of [
			["2024-11-05", -32601],
			["2025-03-26", -32602],
			["2025-06-18", -32602],
			["2025-11-25", -32602],
		] as const) {
			client.initialize(revision);
			equal(client.call("gone").error, { code: expected, message: "Unknown tool: gone" });
		}
	},
	"reports a missing argument as invalid params, and as a failed call since 2025-11-25"() {
		const set = createTool({
			name: "set",
			description: "",
			input: { volume: integer({ minimum: 0, maximum: 100 }) },
			run: () => true,
		});
		const client = clientWith(set as Tool<undefined>);
		equal(client.call("set").error, { code: -32602, message: "volume: missing, expected an integer from 0 to 100" });
		client.initialize("2025-11-25");
		equal(client.call("set").result, {
			content: [{ type: "text", text: "volume: missing, expected an integer from 0 to 100" }],
			isError: true,
		});
	},
	"reports what is wrong with the call itself as invalid params"() {
		const client = clientWith(tool("t", () => true));
		matches(client.ask("tools/call").error.message, /^name/);
		matches(client.ask("tools/call", { name: "t", arguments: [] }).error.message, /^arguments/);
		equal(client.ask("tools/call", { name: "t", arguments: null }).result.isError, false);
		equal(client.ask("tools/call", { name: "t" }).result.isError, false);
	},
	"turns what a tool throws into a failed call"() {
		for (const [thrown, words] of [
			[new Error("no paper"), "no paper"],
			["text", "text"],
			[undefined, "undefined"],
		]) {
			const client = clientWith(
				tool("t", () => {
					throw thrown;
				}),
			);
			client.initialize("2025-03-26");
			equal(client.call("t").result, { content: [{ type: "text", text: words }], isError: true });
		}
	},
	"lets a tool answer with a JSON-RPC error of its own"() {
		const client = clientWith(
			tool("t", () => {
				throw new RpcError(-32050, "jammed", { tray: 2 });
			}),
		);
		equal(client.call("t").error, { code: -32050, message: "jammed", data: { tray: 2 } });
	},
	"answers with a tool's error without its data if that is not JSON"() {
		const data: Record<string, unknown> = {};
		data.self = data;
		const client = clientWith(
			tool("t", () => {
				throw new RpcError(-32050, "jammed", data);
			}),
		);
		equal(client.call("t").error, { code: -32050, message: "jammed" });
	},
	"answers an invalid result with an internal error"() {
		const circular: Record<string, unknown> = {};
		circular.self = circular;
		for (const value of [undefined, null, Number.NaN, () => 1, circular]) {
			equal(clientWith(tool("t", () => value)).call("t").error.code, -32603);
		}
	},
	async "keeps several calls in flight and answers each when it is done"() {
		const { tool: made, calls } = slow();
		const client = clientWith(made);
		for (const id of [1, "two", 3]) {
			client.session.receive({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "slow" } });
		}
		equal(client.ask("ping", undefined, 4).id, 4);
		calls[2]?.resolve("c");
		calls[0]?.reject(new Error("a"));
		calls[1]?.resolve("b");
		await settled();
		const answers = client.heard();
		equal(answers.map(({ id }) => id).sort(), [1, 3, "two"]);
		equal(answers.find(({ id }) => id === 1).error.message, "a");
	},
	async "answers both of two calls that share an id"() {
		const { tool: made, calls } = slow();
		const client = clientWith(made);
		for (const _ of [1, 2]) {
			client.session.receive({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "slow" } });
		}
		calls[0]?.resolve("a");
		calls[1]?.resolve("b");
		await settled();
		equal(
			client.heard().map(({ id }) => id),
			[7, 7],
		);
	},
	async "tells a cancelled tool, and does not answer it"() {
		const { tool: made, calls } = slow();
		const client = clientWith(made);
		let told = 0;
		client.session.receive({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow" } });
		(calls[0] as { call: ToolCall }).call.onCancel = () => {
			told += 1;
			throw new Error("cannot stop");
		};
		for (const _ of [1, 2]) {
			client.say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
		}
		equal([told, calls[0]?.call.cancelled], [1, true]);
		calls[0]?.resolve("late");
		await settled();
		equal(client.heard(), []);
	},
	async "answers a batch when its last call is done"() {
		const { tool: made, calls } = slow();
		const client = clientWith(made);
		equal(
			client.say(
				'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}},{"jsonrpc":"2.0","id":2,"method":"ping"}]',
			),
			[],
		);
		calls[0]?.resolve("done");
		await settled();
		equal(
			client.heard().map((batch) => batch.map(({ id }: { id: number }) => id)),
			[[1, 2]],
		);
	},
	async "rejects more calls than it can hold, and takes more when some have ended"() {
		const { tool: made, calls } = slow();
		const client = new Client<undefined>({ context: undefined, tools: [made], maxCalls: 2 });
		for (const id of [1, 2]) {
			client.session.receive({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "slow" } });
		}
		equal(client.call("slow", {}, 3).error.code, -32000);
		calls[0]?.resolve("a");
		await settled();
		client.heard();
		client.session.receive({ jsonrpc: "2.0", id: 4, method: "tools/call", params: { name: "slow" } });
		equal(client.heard(), []);
	},
	async "reports progress to a client that asked for it, until the call is done"() {
		const { tool: made, calls } = slow();
		const client = clientWith(made);
		client.session.receive({
			jsonrpc: "2.0",
			id: 1,
			method: "tools/call",
			params: { name: "slow", _meta: { progressToken: "p" } },
		});
		calls[0]?.call.progress(1, 2, "half");
		equal(client.heard(), [
			{
				jsonrpc: "2.0",
				method: "notifications/progress",
				params: { progressToken: "p", progress: 1, total: 2, message: "half" },
			},
		]);
		calls[0]?.resolve("done");
		await settled();
		client.heard();
		calls[0]?.call.progress(2);
		equal(client.heard(), []);
	},
	"reports no progress to a client that did not ask"() {
		const client = clientWith(
			tool("t", (_args, _context, call) => {
				call.progress(1);
				return true;
			}),
		);
		ok(client.call("t").result);
	},
	async "drops calls in progress when the session closes, and ignores what comes after"() {
		const { tool: made, calls } = slow();
		const client = clientWith(made);
		client.session.receive({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow" } });
		client.session.close();
		equal(calls[0]?.call.cancelled, true);
		calls[0]?.resolve("late");
		await settled();
		equal(client.say('{"jsonrpc":"2.0","id":2,"method":"ping"}'), []);
		equal(client.say('{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"slow"}}'), []);
		equal(calls.length, 1);
	},
	async "lets a tool wait, and its other calls go on meanwhile"() {
		const { client, timer } = sleepy();
		equal([client.start(1, 500), client.start(2, 100), timer.size], [[], [], 2]);
		timer.pass(100);
		await settled();
		equal(client.answers(), [[2, "awake"]]);
		timer.pass(400);
		await settled();
		equal([client.answers(), timer.size], [[[1, "awake"]], 0]);
	},
	async "wakes a tool that sleeps when its call is cancelled or the session closes"() {
		const { client, timer, log } = sleepy();
		client.start(1, 500);
		client.start(2, 500);
		client.say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
		await settled();
		equal([log.splice(0), timer.size], [["CallCancelled"], 1]);
		client.session.close();
		await settled();
		timer.pass(1000);
		equal([log, timer.size, client.answers()], [["CallCancelled"], 0, []]);
	},
	async "does not let a tool sleep after it has ended, nor for an invalid time"() {
		const { client, timer } = sleepy();
		for (const delay of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
			client.start(delay < 0 ? 1 : 2, delay);
			await settled();
			matches(String(client.answers()[0]?.[1]), /^sleep: expected milliseconds, 0 or more, got /);
		}
		const careless = tool("careless", async (_args, _context, call) => {
			void call.sleep(1000);
			return "done";
		});
		client.server.tools.add(careless);
		client.heard();
		client.say('{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"careless"}}');
		await settled();
		equal([client.answers(), timer.size], [[[3, "done"]], 0]);
	},
	"announces tools that are added and removed"() {
		const client = clientWith();
		client.server.tools.add(tool("new", () => 1));
		equal(client.heard(), [{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }]);
		ok(client.call("new").result);
		equal([client.server.tools.remove("new"), client.server.tools.remove("new")], [true, false]);
		equal(client.heard().length, 1);
		ok(client.call("new").error);
	},
	"lists what is left after tools were removed, and adds a new one after the common ones"() {
		const client = clientWith(...numbered(3, ""), ...numbered(2, "", "user"));
		const names = (withUserTools: boolean): string[] =>
			client.ask("tools/list", { withUserTools }).result.tools.map(({ name }: { name: string }) => name);
		const { tools } = client.server;
		equal([tools.remove("common.1"), tools.remove("common.1"), tools.remove("user.0")], [true, false, true]);
		client.heard();
		equal(names(true), ["common.0", "common.2", "user.1"]);
		equal(client.call("common.1").error.code, -32601);
		tools.add(tool("late", () => "done"));
		client.heard();
		equal([names(false), names(true).at(-1)], [["common.0", "common.2", "late"], "user.1"]);
		for (const name of ["common.0", "late", "user.1"]) {
			tools.remove(name);
		}
		client.heard();
		equal([names(true), tools.size], [["common.2"], 1]);
	},
	"rejects a second tool of the same name, an invalid name, and a tool that no page can hold"() {
		const client = clientWith(tool("t", () => 1));
		throws(() => client.server.tools.add(tool("t", () => 2)), /t is already registered/);
		throws(() => tool("with space", () => 1), /with space/);
		throws(() => tool("", () => 1), /tool name/);
		throws(() => client.server.tools.add(numbered(1, "x".repeat(9000))[0] as Tool<undefined>), /common\.0/);
		equal(client.ask("tools/list").result.tools.length, 1);
	},
	"rejects a default that breaks its own schema"() {
		throws(
			() =>
				createTool({
					name: "t",
					description: "",
					input: { a: object({ b: integer({ maximum: 1, default: 2 }) }) },
					run: () => 1,
				}),
			/t\.a\.b/,
		);
	},
	"sends a notification to every session"() {
		const client = clientWith();
		client.server.notify("notifications/state_changed", { newState: "idle", oldState: "connecting" });
		equal(client.heard(), [
			{ jsonrpc: "2.0", method: "notifications/state_changed", params: { newState: "idle", oldState: "connecting" } },
		]);
	},
});
