import type { PiecedText, Sendable } from "../../src/core/text/json.js";
import { utf8Length } from "../../src/core/text/utf8.js";
import type { LongResult } from "../../src/mcp_server/json-rpc.js";
import { McpServer } from "../../src/mcp_server/mcp-server.js";
import { type Listed, listed, PagedList } from "../../src/mcp_server/paged-list.js";
import { array, boolean, integer, object, type Schema, string } from "../../src/mcp_server/schema.js";
import { createTool, type Tool } from "../../src/mcp_server/tool.js";
import { mcpWrapper } from "../../src/protocols/envelope.js";
import { Client, clientWith, numbered, tool } from "../doubles/client.js";
import { equal, given, matches, ok, suite, throws } from "../harness.js";

function lengthOfFirst(items: readonly Listed[], count: number): number {
	const entries = items.slice(0, count).map(({ entry }) => String.fromArrayBuffer(entry));
	const end = count < items.length ? `],"nextCursor":${JSON.stringify(items[count]?.key)}}` : "]}";
	return utf8Length(`{"tools":[${entries.join(",")}${end}`);
}

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
	"takes null in initialize and tools/list for a member that is absent"() {
		const client = clientWith(...numbered(2, ""));
		const { result } = client.ask("initialize", { protocolVersion: null, capabilities: null, clientInfo: null });
		equal([result.protocolVersion, client.session.client], ["2024-11-05", { capabilities: {} }]);
		for (const capabilities of [{ vision: null }, { roots: null, sampling: null, elicitation: null, vision: null }]) {
			client.ask("initialize", { capabilities });
			equal(client.session.client, { capabilities: {} });
		}
		equal(client.names({ cursor: null, withUserTools: null }), ["common.0", "common.1"]);
	},
	"keeps capabilities of up to 1024 characters, and logs that it drops longer ones"() {
		for (const length of [1024, 1025]) {
			const client = clientWith();
			const roots = "x".repeat(length - '{"roots":""}'.length);
			client.initialize("2025-11-25", { roots, unused: {} });
			equal(client.session.client.capabilities, length > 1024 ? {} : { roots });
			equal(client.log, length > 1024 ? ["capabilities dropped: 1025 characters (limit 1024)"] : []);
		}
	},
	"keeps a vision service's URL and token of up to 1024 characters"() {
		const visionOf = (vision: object) => {
			const client = new Client<undefined>({ context: undefined });
			client.session.receive({ jsonrpc: "2.0", id: 1, method: "initialize", params: { capabilities: { vision } } });
			return client.session.client.vision;
		};
		const url = `http://${"v".repeat(1_017)}`;
		equal(visionOf({ url, token: "t" }), { url, token: "t" });
		equal(visionOf({ url: `${url}v`, token: "t" }), undefined);
		const token = "t".repeat(1_024);
		equal(visionOf({ url: "http://v", token })?.token, token);
		for (const wrong of [`${token}t`, 5]) {
			equal(visionOf({ url: "http://v", token: wrong }), { url: "http://v", token: "" });
		}
	},
	"goes on without a vision service whose URL is not http": given(clientWith, (client) => {
		ok(client.initialize("2024-11-05", { vision: { url: "ws://v" } }).result);
		equal(client.session.client.vision, undefined);
		matches(client.log.join(), /vision\.url/);
	}),
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
			audience: "user",
			run: () => ({ done: true }),
		});
		const client = clientWith(set as Tool<undefined>);
		client.ask("initialize", { protocolVersion: "2025-03-26" });
		equal(client.ask("tools/list", { withUserTools: true }).result.tools, [
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
				annotations: { idempotentHint: true, audience: ["user"] },
			},
		]);
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
			const all = numbered(40, words).map(({ name }) => name);
			equal(names, all);
		}
	},
	"goes on at a cursor although the tools before it have been removed"() {
		const client = clientWith(...numbered(40, "x".repeat(700)));
		const first = client.ask("tools/list").result;
		for (const { name } of first.tools) {
			client.server.tools.remove(name);
		}
		client.heard();
		equal(client.ask("tools/list", { cursor: first.nextCursor }).result.tools[0].name, first.nextCursor);
	},
	"fills its pages to the byte"() {
		const items = Array.from({ length: 6 }, (_, at) => listed(`日${at}`, { name: "x".repeat(at) }));
		const list = new PagedList("tools", items);
		const textOf = ({ before, items, after }: LongResult): string =>
			before.concat(items.map((item) => String.fromArrayBuffer(item)).join(","), after);
		for (const count of [2, 3, 4]) {
			const budget = lengthOfFirst(items, count);
			equal([list.page("", budget - 1).items.length, list.page("", budget).items.length], [count - 1, count]);
		}
		// The last item takes less than the cursor that would name it.
		const whole = lengthOfFirst(items, 6);
		equal([list.page("", whole - 1).items.length, list.page("", whole).items.length], [4, 6]);
		for (let budget = 1; budget < 300; budget += 1) {
			const page = list.page("", budget);
			equal(page.bytes, utf8Length(textOf(page)));
			ok(page.items.length === 1 || page.bytes <= budget);
		}
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
				taken += String.fromArrayBuffer(page.take());
				takes += 1;
			}
			equal([taken, ArrayBuffer.fromString(taken).byteLength], [whole, page.bytes]);
			equal(JSON.parse(taken).payload.id, id);
			ok(takes > 1, "all at once");
		}
	},
	"lists user tools only when asked, after the common ones, and marked"() {
		const client = clientWith(...numbered(1, "", "user"), ...numbered(2, ""));
		equal(client.names({}), ["common.0", "common.1"]);
		equal(client.names({ withUserTools: true }), ["common.0", "common.1", "user.0"]);
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
	"announces tools that are added and removed": given(clientWith, (client) => {
		client.server.tools.add(tool("new", () => 1));
		equal(client.heard(), [{ jsonrpc: "2.0", method: "notifications/tools/list_changed" }]);
		ok(client.call("new").result);
		equal([client.server.tools.remove("new"), client.server.tools.remove("new")], [true, false]);
		equal(client.heard().length, 1);
		ok(client.call("new").error);
	}),
	"lists what is left after tools were removed, and adds a new one after the common ones"() {
		const client = clientWith(...numbered(3, ""), ...numbered(2, "", "user"));
		const names = (withUserTools: boolean): string[] => client.names({ withUserTools });
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
		equal(names(true), ["common.2"]);
	},
	"takes a tool whose entry fills a page, and none that is longer"() {
		const entryOf = (length: number): Tool<undefined> => tool("t", () => true, { description: "x".repeat(length) });
		const { message } = throws(() => clientWith(entryOf(9_000)), /^tool t: list entry of \d+ bytes \(limit \d+\)$/);
		const [bytes = 0, limit = 0] = (message.match(/\d+/g) ?? []).map(Number);
		const length = 9_000 - (bytes - limit);
		equal(clientWith(entryOf(length)).ask("tools/list").result.tools.length, 1);
		throws(() => clientWith(entryOf(length + 1)), /list entry of/);
	},
	"rejects a second tool of the same name, and an invalid name"() {
		const client = clientWith(tool("t", () => 1));
		throws(() => client.server.tools.add(tool("t", () => 2)), /t is already registered/);
		throws(() => tool("with space", () => 1), /with space/);
		throws(() => tool("", () => 1), /tool name/);
		equal(client.ask("tools/list").result.tools.length, 1);
	},
	"rejects a default that breaks its own schema"() {
		const wrong = integer({ maximum: 1, default: 2 });
		const withInput = (a: Schema) => () => createTool({ name: "t", description: "", input: { a }, run: () => 1 });
		throws(withInput(object({ b: wrong })), /t\.a\.b/);
		throws(withInput(array(wrong)), /t\.a\[\]/);
	},
});
