import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type ClientSide, connectClient, serveClients } from "xs-mcp-gateway/testing/gateway";
import { until } from "../host-test/support/testing.js";
import { ALL_TOOLS, COMMON_TOOLS } from "../host-test/support/tool-counts.js";
import { ENGINE, type GatewaySide, startDevice, TRANSPORTS } from "./fixtures.js";

interface TestClient {
	listTools(): Promise<{ tools: { name: string }[] }>;
	callTool(call: { name: string; arguments?: Record<string, unknown> }): Promise<{
		readonly content?: unknown;
		readonly isError?: unknown;
		readonly structuredContent?: unknown;
	}>;
}

const CLIENTS: Readonly<Record<string, (t: TestContext, side: ClientSide) => Promise<TestClient>>> = {
	"2026-07-28": (t, { clientUrl }) => connectClient(t, clientUrl(), "2026-07-28") as Promise<TestClient>,
	"2025-11-25": (t, { clientUrl }) => connectClient(t, clientUrl(), "2025-11-25") as Promise<TestClient>,
	"the first generation of the SDK": async (t, { clientUrl }) => {
		const client = new ClientV1({ name: "v1-client", version: "1.0.0" });
		t.after(() => client.close());
		await client.connect(new TransportV1(clientUrl()) as never);
		return client as TestClient;
	},
};

const FIRST = "02:00:00:00:00:01";
const VOLUME = "virtual_000001__self_audio_speaker_set_volume";
const STATUS = "virtual_000001__self_get_device_status";
const SYSTEM_INFO = "virtual_000001__self_get_system_info";

const text = ({ content }: { content?: unknown }): unknown => (content as { text?: unknown }[])[0]?.text;
const names = async (client: TestClient): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);

for (const [transport, open] of Object.entries(TRANSPORTS)) {
	describe(`clients and virtual devices over ${transport}, firmware on ${ENGINE.kind}`, () => {
		for (const [name, connect] of Object.entries(CLIENTS)) {
			it(`lists and calls a device's tools for a client of ${name}`, async (t) => {
				const { gateway, config }: GatewaySide = await open(t);
				const side = await serveClients(t, gateway);
				await startDevice(t, ENGINE, { config, macAddress: FIRST });
				await until(() => gateway.servers.find(FIRST)?.online === true, "the device is online");
				const client = await connect(t, side);
				const tools = await names(client);
				assert.deepEqual([tools.length, tools[0]], [COMMON_TOOLS, STATUS]);
				assert.equal(text(await client.callTool({ name: VOLUME, arguments: { volume: 30 } })), '{"volume":30}');
				const { structuredContent } = await client.callTool({ name: STATUS });
				assert.deepEqual((structuredContent as { audio_speaker: unknown }).audio_speaker, { volume: 30 });
				await assert.rejects(client.callTool({ name: SYSTEM_INFO }), /Unknown tool/);
				side.access = { principal: "admin", userTools: true };
				const admin = await connect(t, side);
				assert.equal((await names(admin)).length, ALL_TOOLS);
				assert.equal((await admin.callTool({ name: SYSTEM_INFO })).isError, false);
			});
		}
	});
}
