import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startPlainUpstream } from "../support/plain-upstream.js";
import { call, startProxy, textOf } from "../support/proxy.js";

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
});
