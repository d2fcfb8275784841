import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/until.js";
import { McpProxy } from "../../src/proxy/mcp-proxy.js";
import { readProxyOptions } from "../../src/proxy/proxy-options.js";
import { UPSTREAM_TIMING, type UpstreamTiming } from "../../src/proxy/upstream.js";
import { startPlainUpstream } from "../support/plain-upstream.js";
import { DISCONNECTED, textOf } from "../support/proxy.js";

async function openProxy(t: TestContext, skill: string, timing: Partial<UpstreamTiming>) {
	const upstream = await startPlainUpstream(t);
	const options = readProxyOptions({ upstream: upstream.url, skill }, {});
	const proxy = new McpProxy(options, { ...UPSTREAM_TIMING, ...timing });
	t.after(() => proxy.close());
	return { proxy, ...upstream };
}

describe("the proxy before an upstream that hangs", () => {
	it("with a gate: says that it is disconnected, and that nothing was done", async (t) => {
		const { proxy, hang, methods } = await openProxy(t, "/s", { ping: 50 });
		textOf(await proxy.callTool("activate", {}, {}), false);
		hang();
		const text = textOf(await proxy.callTool("count", {}, {}), true);
		assert.ok(text.includes(DISCONNECTED), text);
		assert.doesNotMatch(text, /carried out/);
		assert.ok(!methods.includes("tools/call"));
	});

	it("says so within ten seconds: a ping and a new connection are shorter", async () => {
		const { ping, connect, list } = UPSTREAM_TIMING;
		assert.ok(ping + connect < 10_000 && list < 10_000);
	});

	it("without a gate: says that it cannot connect", async (t) => {
		const { proxy, hang } = await openProxy(t, "", { connect: 50 });
		hang();
		assert.match(textOf(await proxy.callTool("count", {}, {}), true), /^接続失敗.*no answer within 50 ms/);
	});

	it("pings the upstream while nothing is asked", async (t) => {
		const { proxy, hang, methods } = await openProxy(t, "/s", { ping: 1_000, pingInterval: 10 });
		textOf(await proxy.callTool("activate", {}, {}), false);
		await until(() => methods.filter((method) => method === "ping").length > 1, "it is pinged");
		hang();
		const request = proxy.request("resources/read", { uri: "x:" }, {});
		await assert.rejects(request, { message: new RegExp(DISCONNECTED) });
	});
});
