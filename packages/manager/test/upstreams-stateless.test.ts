import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import {
	type CallToolRequest,
	type CallToolResult,
	ProtocolError,
	ProtocolErrorCode,
	type ServerContext,
	type Tool,
} from "@modelcontextprotocol/server";
import { until } from "../../../host-test/support/testing.js";
import { readProxyOptions } from "../src/proxy/proxy-options.js";
import { makeProxy } from "../src/proxy/serve-proxy.js";
import { startStatelessUpstream } from "../testing/stateless-upstream.js";
import { connected, nodeServer, openServers, textOf } from "../testing/upstreams.js";

const CAPABILITIES = { tools: { listChanged: true }, resources: { subscribe: true } };

const tool = (name: string, inputSchema: object = {}) =>
	({ name, inputSchema: { type: "object", ...inputSchema } }) as Tool;

type OnCall = (request: CallToolRequest, context: ServerContext) => CallToolResult | Promise<CallToolResult>;

const answer = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** A server with tools whose handlers the test gives. */
async function open(t: TestContext, tools: Tool[], call: OnCall = () => answer("hello")) {
	const upstream = await startStatelessUpstream(t, CAPABILITIES, (server) => {
		server.setRequestHandler("tools/list", () => ({ tools }));
		server.setRequestHandler("resources/list", () => ({ resources: [{ uri: "note://one", name: "one" }] }));
		server.setRequestHandler("tools/call", call);
	});
	const opened = await connected(t, { id: "new", url: upstream.url });
	const find = (name: string) => opened.server.tools.find((each) => each.name === name) as Tool;
	return { ...upstream, ...opened, find };
}

describe("a server over HTTP that has only 2026-07-28", () => {
	it("is connected and called", async (t) => {
		const { server, find } = await open(t, [tool("greet")]);
		assert.equal(server.connection?.revision, "2026-07-28");
		assert.deepEqual(server.board, { name: "stateless", version: "1.0.0" });
		assert.equal(textOf(await server.call(find("greet"), {}, { principal: "test" })), "hello");
	});

	it("gets the arguments that it wants as headers; a tool with an invalid header is not offered", async (t) => {
		const region = { properties: { region: { type: "string", "x-mcp-header": "Region" } } };
		const invalid = { properties: { region: { type: "string", "x-mcp-header": "not a name" } } };
		const nested = { properties: { list: { type: "array", items: { type: "string", "x-mcp-header": "Item" } } } };
		const tools = [tool("near", region), tool("far", invalid), tool("many", nested)];
		const { server, find, posted, warnings } = await open(t, tools);
		const names = server.tools.map(({ name }) => name);
		assert.deepEqual(names, ["near"]);
		assert.match(warnings.join("\n"), /"far" skipped: region: x-mcp-header is not a header's name/);
		await server.call(find("near"), { region: "日本" }, { principal: "test" });
		assert.equal(posted.at(-1)?.["mcp-param-region"], `=?base64?${Buffer.from("日本").toString("base64")}?=`);
		assert.equal(posted.at(-1)?.["mcp-name"], "near");
	});

	it("reports changed lists and updated resources", async (t) => {
		const tools = [tool("one")];
		const { server, bus, registry } = await open(t, tools);
		const end = await server.subscriptions.add("note://one");
		const updated = once(registry, "updated");
		bus.publish({ kind: "resource_updated", uri: "note://one" });
		assert.deepEqual((await updated).slice(1), ["note://one"]);
		end();
		tools.push(tool("two"));
		bus.publish({ kind: "tools_list_changed" });
		await until(() => server.tools.length === 2, "the new tool is listed");
	});

	it("stays connected when it rejects a request, and when a call is cancelled after its progress", async (t) => {
		const aborted: string[] = [];
		const call = async ({ params: { name } }: CallToolRequest, { mcpReq }: ServerContext) => {
			if (name === "reject") {
				throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "no such method");
			}
			if (name === "wait") {
				mcpReq.signal.addEventListener("abort", () => aborted.push(name));
				const progressToken = mcpReq._meta?.progressToken as number;
				await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1 } });
				await once(mcpReq.signal, "abort");
			}
			return answer("hello");
		};
		const { server, find, configured } = await open(
			t,
			["reject", "wait", "greet"].map((name) => tool(name)),
			call,
		);
		await assert.rejects(server.call(find("reject"), {}, { principal: "test" }), {
			code: ProtocolErrorCode.MethodNotFound,
		});
		const controller = new AbortController();
		const { signal } = controller;
		const onProgress = () => controller.abort();
		await assert.rejects(server.call(find("wait"), {}, { principal: "test", signal, onProgress }), {
			code: "cancelled",
		});
		await until(() => aborted.length === 1, "the server is told");
		assert.equal(textOf(await server.call(find("greet"), {}, { principal: "test" })), "hello");
		assert.equal(configured.status, "connected");
	});
});

const STDIO = fileURLToPath(new URL("../testing/stateless-server.mjs", import.meta.url));

it("a server over stdio that has only 2026-07-28 is the upstream of the proxy", async (t) => {
	const proxy = makeProxy(readProxyOptions({ upstream: `"${process.execPath}" "${STDIO}"` }, {}));
	t.after(() => proxy.upstream.disconnect("the test has ended"));
	assert.equal(textOf(await proxy.callTool("greet", {}, {})), "hello");
});

it("a server over stdio that has only 2026-07-28 is started again without initialize, and called", async (t) => {
	const configured = (await openServers(t)).add(nodeServer("new", STDIO));
	for (let times = 0; times < 2; times += 1) {
		const server = await configured.connect();
		assert.equal(server.connection?.revision, "2026-07-28");
		assert.equal(textOf(await server.call(server.tools[0] as Tool, {}, { principal: "test" })), "hello");
		await configured.disconnect();
	}
});
