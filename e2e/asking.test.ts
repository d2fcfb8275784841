import assert from "node:assert/strict";
import { it, type TestContext } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ERAS, serveClients } from "xs-mcp-gateway/testing/gateway";
import { bundle } from "xs-mcp-virtual-device";
import { until } from "../host-test/support/testing.js";
import { ENGINE, EVERYTHING, openOverMqtt, openOverWebSocket, startDevice } from "./fixtures.js";

const script = await bundle(EVERYTHING);

const DEVICES = new Map([
	["02:00:00:00:00:01", "virtual_000001"],
	["02:00:00:00:00:02", "virtual_000002"],
]);

async function start(t: TestContext, open: typeof openOverWebSocket, era: keyof typeof ERAS) {
	const { gateway, config } = await open(t);
	const { clientUrl } = await serveClients(t, gateway);
	for (const macAddress of DEVICES.keys()) {
		await startDevice(t, ENGINE, { config, script, macAddress });
	}
	await until(() => gateway.servers.all.filter(({ online }) => online).length === 2, "the devices are online");
	const capabilities = { elicitation: { form: {} }, sampling: {} };
	const client = new Client({ name: "test-client", version: "1.0.0" }, { ...ERAS[era], capabilities });
	t.after(() => client.close());
	client.setRequestHandler("elicitation/create", () => ({
		action: "accept",
		content: { username: "ada", email: "ada@lamp.example" },
	}));
	client.setRequestHandler("sampling/createMessage", ({ params }) => ({
		role: "assistant",
		model: "test-model",
		content: { type: "text", text: `answer to ${JSON.stringify(params.messages[0]?.content)}` },
	}));
	await client.connect(new StreamableHTTPClientTransport(clientUrl()));
	return client;
}

for (const [open, era] of [
	[openOverWebSocket, "2025-11-25"],
	[openOverMqtt, "2026-07-28"],
] as const) {
	it(`two devices ask a client of ${era} at the same time, and each gets the answers to its own questions`, async (t) => {
		const client = await start(t, open, era);
		const aliases = [...DEVICES.values()];
		const calls = aliases.flatMap((alias) => [
			client.callTool({ name: `${alias}__test_elicitation`, arguments: { message: `from ${alias}` } }),
			client.callTool({ name: `${alias}__test_sampling`, arguments: { prompt: `from ${alias}` } }),
		]);
		const texts = (await Promise.all(calls)).map(({ content }) => JSON.stringify(content));
		for (const [index, alias] of aliases.entries()) {
			assert.match(texts[index * 2] as string, /ada@lamp\.example/);
			assert.match(texts[index * 2 + 1] as string, new RegExp(`answer to .*from ${alias}`));
		}
	});
}
