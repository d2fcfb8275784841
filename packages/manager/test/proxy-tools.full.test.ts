import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { freePort, until } from "../../../host-test/support/testing.js";
import { call, startBoth, startProxy, startUpstream, textOf } from "../testing/proxy.js";

describe("tools through the proxy, with their results", () => {
	it("have their names only while the upstream is down; after activate their definitions", async (t) => {
		const port = await freePort();
		const args = ["--upstream", `http://127.0.0.1:${port}/mcp`, "--skill", "/s", "--tools", "echo, get-sum"];
		const { client, changes } = await startProxy(t, args);
		assert.deepEqual((await client.listTools()).tools.map(({ name, inputSchema }) => [name, inputSchema]).slice(1), [
			["echo", { type: "object" }],
			["get-sum", { type: "object" }],
		]);
		await startUpstream(t, port);
		textOf(await call(client, "activate"), false);
		await until(() => changes.tools === 1, "the host is told");
		const { tools } = await client.listTools();
		const found = tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})]);
		assert.deepEqual(found, [
			["activate", []],
			["echo", ["message"]],
			["get-sum", ["a", "b"]],
		]);
	});

	it("that are not in --tools are not listed and cannot be called", async (t) => {
		const { client } = await startBoth(t, [], { MCP_TOOLS: "get-sum" });
		const names = (await client.listTools()).tools.map(({ name }) => name);
		assert.deepEqual(names, ["get-sum"]);
		assert.match(textOf(await call(client, "echo", { message: "hello" }), true), /echo not found/);
		assert.match(textOf(await call(client, "get-sum", { a: 1, b: 2 }), false), /3/);
	});

	it("answer with images, links, annotations and structured content as the upstream gives them", async (t) => {
		const { url } = await startUpstream(t);
		const direct = new Client({ name: "direct", version: "1" });
		t.after(() => direct.close());
		await direct.connect(new StreamableHTTPClientTransport(new URL(url)));
		const { client } = await startProxy(t, ["--upstream", url]);
		for (const [name, args] of [
			["get-tiny-image", {}],
			["get-annotated-message", { messageType: "success", includeImage: true }],
			["get-resource-links", { count: 2 }],
			["get-structured-content", { location: "Chicago" }],
		] as const) {
			assert.deepEqual(await call(client, name, args), await call(direct, name, args), name);
		}
	});

	it("report progress to the host", async (t) => {
		const { client } = await startBoth(t);
		const progress: number[] = [];
		const params = { name: "trigger-long-running-operation", arguments: { duration: 0.3, steps: 3 } };
		await client.callTool(params, { onprogress: (each) => void progress.push(each.progress) });
		assert.ok(progress.length >= 2, String(progress));
	});
});
