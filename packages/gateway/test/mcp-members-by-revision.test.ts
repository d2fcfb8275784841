import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ICONS } from "../src/catalog/tool-hints.js";
import { connectClient, SET_VOLUME, startWithDevice, type TestGateway } from "../testing/gateway.js";
import { openSession } from "../testing/raw-session.js";

const OWN_ICON = { src: "https://example.org/door.png", mimeType: "image/png" };
const DOOR = {
	name: "self.door.open",
	title: "Open door",
	inputSchema: { type: "object", properties: {} },
	outputSchema: { type: "object", properties: {} },
	icons: [OWN_ICON],
};

async function askIn(revision: string, gateway: TestGateway) {
	const { serverInfo, ask } = await openSession(gateway.clientUrl(), revision);
	return { serverInfo, tools: (await ask("tools/list")).result.tools };
}

describe("titles and icons", () => {
	it("are told only to clients of revisions that have them, so that the lists of others do not grow", async (t) => {
		const { side: gateway } = await startWithDevice(t, {}, { tools: [SET_VOLUME, DOOR] });
		for (const [revision, server, volume, door] of [
			["2024-11-05", [], ["description", "inputSchema"], ["inputSchema"]],
			["2025-03-26", [], ["description", "inputSchema", "annotations"], ["inputSchema"]],
			[
				"2025-06-18",
				["title"],
				["description", "inputSchema", "title", "annotations"],
				["inputSchema", "title", "outputSchema"],
			],
		] as const) {
			const { serverInfo, tools } = await askIn(revision, gateway);
			assert.deepEqual(Object.keys(serverInfo), ["name", "version", ...server], revision);
			assert.deepEqual(Object.keys(tools[0]), ["name", ...volume], revision);
			assert.deepEqual(Object.keys(tools[1]), ["name", ...door], revision);
		}
	});

	it("are small enough to be in the list, and a tool's own icon stays", async (t) => {
		const { side: gateway } = await startWithDevice(t, {}, { tools: [SET_VOLUME, DOOR] });
		const { serverInfo, tools } = await askIn("2025-11-25", gateway);
		assert.deepEqual([serverInfo.title, serverInfo.icons], ["xs-mcp gateway", ICONS.chip]);
		assert.deepEqual([tools[0].icons, tools[1].icons], [ICONS.sound, [OWN_ICON]]);
		for (const [name, [icon]] of Object.entries(ICONS)) {
			assert.ok(JSON.stringify(icon).length < 300, name);
		}
		const client = await connectClient(t, gateway.clientUrl(), "2026-07-28");
		assert.deepEqual((await client.listTools()).tools[0]?.icons, ICONS.sound);
		assert.deepEqual(client.getServerVersion()?.icons, ICONS.chip);
	});
});
