import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { readProxyOptions } from "../src/proxy/proxy-options.js";
import { makeProxy } from "../src/proxy/serve-proxy.js";
import { UPSTREAM_TIMING, type UpstreamTiming } from "../src/proxy/upstream.js";
import { plainResult, startPlainUpstream } from "../testing/plain-upstream.js";
import { DISCONNECTED, textOf } from "../testing/proxy.js";
import { serveResults } from "../testing/upstreams.js";

/** A proxy before an upstream that answers 429 to requests for which `isBusy` holds, by their method. */
async function openProxy(t: TestContext, retryAfter: string | undefined, isBusy: (method: string) => boolean) {
	const asked: string[] = [];
	const upstream = await serveResults(t, ({ method }, response) => {
		asked.push(method);
		if (isBusy(method)) {
			response.writeHead(429, retryAfter === undefined ? {} : { "Retry-After": retryAfter }).end("slow down");
			return undefined;
		}
		return plainResult(method);
	});
	const proxy = makeProxy(readProxyOptions({ upstream }, {}));
	t.after(() => proxy.upstream.disconnect("the test has ended"));
	return { proxy, asked };
}

const REFUSAL = /HTTP 429 Too Many Requests: slow down/;

describe("the proxy before an upstream that has had too many requests", () => {
	it("says so at once if the upstream asks for more time than the host has", async (t) => {
		const { proxy, asked } = await openProxy(t, "60", () => true);
		const text = textOf(await proxy.callTool("count", {}, {}), true);
		assert.match(text, /^接続失敗.*HTTP 429 Too Many Requests: slow down \(try again in 60 s\)/);
		assert.deepEqual(asked, ["server/discover"]);
	});

	it("says so if the upstream names no time, and goes on refusing", async (t) => {
		const { proxy } = await openProxy(t, undefined, () => true);
		assert.match(textOf(await proxy.callTool("count", {}, {}), true), REFUSAL);
	});

	it("says so of a call and of a list, too", async (t) => {
		const { proxy } = await openProxy(t, "60", (method) => method.startsWith("tools/"));
		assert.match(textOf(await proxy.callTool("count", {}, {}), true), REFUSAL);
		await assert.rejects(proxy.listTools(), REFUSAL);
	});

	it("asks again after the time that the upstream names", async (t) => {
		let times = 0;
		const { proxy } = await openProxy(t, "0", () => {
			times += 1;
			return times <= 2;
		});
		assert.equal(textOf(await proxy.callTool("count", {}, {}), false), "counted");
	});
});

for (const skill of ["", "/s"]) {
	it(`the proxy says that a response has no answer, ${skill === "" ? "without" : "with"} a gate`, async (t) => {
		const upstream = await serveResults(t, ({ method }, response) => {
			if (method === "tools/call") {
				response.writeHead(200, { "Content-Type": "text/event-stream" }).end(": counting\n\n");
				return undefined;
			}
			return plainResult(method);
		});
		const proxy = makeProxy(readProxyOptions({ upstream, skill }, {}));
		t.after(() => proxy.upstream.disconnect("the test has ended"));
		await proxy.callTool("activate", {}, {});
		const text = textOf(await proxy.callTool("count", {}, {}), true);
		assert.equal(text, "the response ended without an answer. The call may have been carried out.");
	});
}

async function openBeforeHung(t: TestContext, skill: string, timing: Partial<UpstreamTiming>) {
	const upstream = await startPlainUpstream(t);
	const options = readProxyOptions({ upstream: upstream.url, skill }, {});
	const proxy = makeProxy(options, { ...UPSTREAM_TIMING, ...timing });
	t.after(() => proxy.upstream.disconnect("the test has ended"));
	return { proxy, ...upstream };
}

describe("the proxy before an upstream that hangs", () => {
	it("with a gate: says that it is disconnected, and that nothing was done", async (t) => {
		const { proxy, hang, methods } = await openBeforeHung(t, "/s", { ping: 50 });
		textOf(await proxy.callTool("activate", {}, {}), false);
		hang();
		const text = textOf(await proxy.callTool("count", {}, {}), true);
		assert.ok(text.includes(DISCONNECTED), text);
		assert.doesNotMatch(text, /carried out/);
		assert.ok(!methods.includes("tools/call"));
	});

	it("without a gate: says that it cannot connect", async (t) => {
		const { proxy, hang } = await openBeforeHung(t, "", { connect: 50 });
		hang();
		assert.match(textOf(await proxy.callTool("count", {}, {}), true), /^接続失敗.*no answer within 50 ms/);
	});

	it("gives a call its own time for connecting, though a list has begun to connect", async (t) => {
		const { proxy, hang } = await openBeforeHung(t, "", { connect: 100, list: 20 });
		hang();
		const list = assert.rejects(proxy.listTools(), /cannot be reached: no answer within 20 ms/);
		assert.match(textOf(await proxy.callTool("count", {}, {}), true), /no answer within 100 ms/);
		await list;
	});

	it("opens one connection for lists at the same time while the gate is locked", async (t) => {
		const { proxy, methods } = await openBeforeHung(t, "/s", {});
		const lists = await Promise.all([proxy.listTools(), proxy.listTools()]);
		assert.deepEqual(
			lists.map((tools) => tools.length),
			[2, 2],
		);
		assert.equal(methods.join(), "server/discover,initialize,notifications/initialized,tools/list");
	});

	it("pings the upstream while nothing is asked", async (t) => {
		const { proxy, hang, methods } = await openBeforeHung(t, "/s", { ping: 1_000, pingInterval: 10 });
		textOf(await proxy.callTool("activate", {}, {}), false);
		await until(() => methods.filter((method) => method === "ping").length > 1, "it is pinged");
		hang();
		const request = proxy.request({ method: "resources/read", params: { uri: "x:" } }, {});
		await assert.rejects(request, { message: new RegExp(DISCONNECTED) });
	});
});
