import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ERAS, serveClients } from "../../gateway/test/support/gateway.js";
import { bundle } from "../../virtual-device/src/index.js";
import { until } from "../support/until.js";
import { ENGINES, startDevice, TRANSPORTS } from "./fixtures.js";

// Two devices with every feature, the gateway, and the official SDK's client, together: what goes beyond tools.

const script = await bundle(fileURLToPath(new URL("../fixtures/everything/main.ts", import.meta.url)));
const [engine] = ENGINES as [(typeof ENGINES)[number]];

/** MAC addresses, and the aliases that follow from them. */
const DEVICES = new Map([
	["02:00:00:00:00:01", "virtual_000001"],
	["02:00:00:00:00:02", "virtual_000002"],
]);

/** A gateway with two devices, and a client that can be asked. */
async function start(t: TestContext, transport: string, era: keyof typeof ERAS) {
	const { gateway, config } = await (TRANSPORTS[transport] as (typeof TRANSPORTS)[string])(t);
	const { clientUrl } = await serveClients(t, gateway);
	for (const macAddress of DEVICES.keys()) {
		await startDevice(t, engine, { config, script, macAddress });
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

for (const [transport, era] of [
	["websocket", "2025-11-25"],
	["mqtt", "2026-07-28"],
] as const) {
	describe(`two devices with every feature over ${transport}, and a client of ${era}`, () => {
		it("ask the client at the same time, and each gets the answers to its own questions", async (t) => {
			const client = await start(t, transport, era);
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

		it("tell of updates of the same resource, each under its own URI", async (t) => {
			const client = await start(t, transport, era);
			const updated = new Set<string>();
			client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updated.add(params.uri));
			const uris = [...DEVICES.values()].map((alias) => `on-device://${alias}/test://watched-resource`);
			if (era === "2026-07-28") {
				await client.listen({ resourceSubscriptions: uris });
			} else {
				await Promise.all(uris.map((uri) => client.subscribeResource({ uri })));
			}
			await until(() => updated.size === 2, "both are told");
			assert.deepEqual([...updated].sort(), uris);
			for (const alias of DEVICES.values()) {
				const { contents } = await client.readResource({ uri: `device://${alias}/state` });
				const { device, online, parts } = JSON.parse((contents[0] as { text: string }).text);
				assert.deepEqual([device, online, parts.includes("speaker")], [alias, true, true]);
			}
		});
	});
}
