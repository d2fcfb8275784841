import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { LAMP } from "xs-mcp-gateway/testing/gateway";
import { startProgramWithDevice } from "xs-mcp-gateway/testing/program";
import { until } from "../../../host-test/support/testing.js";
import { call, startProxy, startUpstream, textOf } from "../testing/proxy.js";

describe("tools through the proxy", () => {
	it("have the upstream's definitions before activate, and exactly those", async (t) => {
		const { url } = await startUpstream(t);
		const direct = new Client({ name: "direct", version: "1" });
		t.after(() => direct.close());
		await direct.connect(new StreamableHTTPClientTransport(new URL(url)));
		// The proxy does not pass on tasks.
		const expected = (await direct.listTools()).tools.map(({ execution, ...tool }) => tool);
		const { client } = await startProxy(t, ["--upstream", url, "--skill", "/s"]);
		const [activate, ...tools] = (await client.listTools()).tools;
		assert.equal(activate?.name, "activate");
		assert.deepEqual(tools, expected);
	});

	it("may be those of a device behind the gateway", async (t) => {
		const { started } = await startProgramWithDevice(t, {
			id: LAMP,
			onCall: () => ({ content: [{ type: "text", text: "done" }] }),
		});
		const { client } = await startProxy(t, ["--upstream", `${started.base}/mcp/lamp_000001`]);
		await until(async () => (await client.listTools()).tools.length === 1, "the device's tool is listed");
		const [tool] = (await client.listTools()).tools;
		assert.equal(textOf(await call(client, tool?.name ?? "", { volume: 1 }), false), "done");
	});
});
