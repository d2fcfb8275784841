import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startPlainUpstream } from "../support/plain-upstream.js";
import { call, DISCONNECTED, NOT_RECONNECTED, startProxy, textOf } from "../support/proxy.js";

describe("the proxy before an upstream without streams", () => {
	it("asks nothing of the upstream while the gate is locked, except the list of tools for the host", async (t) => {
		const { url, methods } = await startPlainUpstream(t);
		const { client } = await startProxy(t, ["--upstream", url, "--skill", "/s"]);
		textOf(await call(client, "count"), true);
		assert.equal(methods.length, 0);
		await client.listTools();
		assert.equal(methods.join(), "server/discover,initialize,notifications/initialized,tools/list");
		textOf(await call(client, "count"), true);
		assert.ok(!methods.includes("tools/call"));
	});

	it("with a gate: notices at the call that the upstream is down, and says that nothing was done", async (t) => {
		const upstream = await startPlainUpstream(t);
		const { client } = await startProxy(t, ["--upstream", upstream.url, "--skill", "/s"]);
		await call(client, "activate");
		assert.equal(textOf(await call(client, "count"), false), "counted");
		await upstream.stop();
		const text = textOf(await call(client, "count"), true);
		assert.ok(text.includes(DISCONNECTED), text);
		assert.doesNotMatch(text, /carried out/);
	});

	it("without a gate: notices at the call that the upstream is down, and tries to connect", async (t) => {
		const upstream = await startPlainUpstream(t);
		const { client } = await startProxy(t, ["--upstream", upstream.url]);
		assert.equal(textOf(await call(client, "count"), false), "counted");
		await upstream.stop();
		const text = textOf(await call(client, "count"), true);
		assert.ok(text.includes(NOT_RECONNECTED), text);
		assert.doesNotMatch(text, /carried out/);
	});

	it("without a gate: connects again when a call broke the connection, and does not repeat the call", async (t) => {
		const { url, methods } = await startPlainUpstream(t, (number) => (number === 1 ? "break" : "answer"));
		const { client } = await startProxy(t, ["--upstream", url]);
		assert.match(textOf(await call(client, "count"), true), /connected again.*may have been carried out/);
		assert.equal(methods.filter((method) => method === "tools/call").length, 1);
		assert.equal(textOf(await call(client, "count"), false), "counted");
	});
});
