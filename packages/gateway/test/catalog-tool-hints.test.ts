import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { toolHints } from "../src/catalog/tool-hints.js";
import { readConfiguration } from "../src/config/configuration.js";
import type { ToolHint } from "../src/plugin.js";
import {
	connectClient,
	LOCAL,
	REBOOT,
	SET_VOLUME,
	startGateway,
	type TestGateway,
	WireDevice,
} from "../testing/gateway.js";

const tool = (name: string, more: object = {}) => ({
	name,
	description: "x",
	inputSchema: { type: "object" },
	...more,
});

const OTHERS = [
	tool("self.fan.spin"),
	tool("self.fan.erase"),
	tool("self.light.get_rgb"),
	tool("self.get_device_status", { title: "Own title", annotations: { openWorldHint: true } }),
];

async function connect(t: TestContext, hints?: ReadonlyMap<string, ToolHint>): Promise<TestGateway> {
	const side = await startGateway(t, hints && { toolHints: hints });
	side.access = { ...LOCAL, userTools: true };
	await WireDevice.connect(t, side, { tools: [SET_VOLUME, REBOOT, ...OTHERS] });
	return side;
}

describe("hints of tools that give none", () => {
	it("are known for the family's tools, titles too", async (t) => {
		const client = await connectClient(t, (await connect(t)).clientUrl(), "2025-11-25");
		const { tools } = await client.listTools();
		const of = (name: string) => tools.find((each) => each.name === `lamp_000001__self_${name}`);
		assert.deepEqual(
			[of("audio_speaker_set_volume")?.title, of("audio_speaker_set_volume")?.annotations],
			["Set volume", { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false }],
		);
		assert.equal(of("reboot")?.annotations?.destructiveHint, true);
		assert.equal(of("light_get_rgb")?.annotations?.readOnlyHint, true);
		assert.equal(of("fan_spin")?.annotations, undefined);
		const status = of("get_device_status");
		assert.deepEqual(
			[status?.title, status?.annotations?.openWorldHint, status?.annotations?.readOnlyHint],
			["Own title", true, true],
		);
	});

	it("can be configured by name, before the family's, and are found by a search", async (t) => {
		const side = await connect(
			t,
			new Map<string, ToolHint>([
				["self.fan.erase", "destroys"],
				["self.fan.*", "acts"],
				["*volume", "reads"],
			]),
		);
		const client = await connectClient(t, side.clientUrl(), "2026-07-28");
		const { structuredContent } = await client.callTool({ name: "tools_search", arguments: { query: "fan" } });
		const hits = (structuredContent as { tools: { name: string; annotations: object }[] }).tools;
		assert.deepEqual(
			hits.map(({ name, annotations }) => [name, (annotations as { destructiveHint: boolean }).destructiveHint]).sort(),
			[
				["lamp_000001__self_fan_erase", true],
				["lamp_000001__self_fan_spin", false],
			],
		);
		const { tools } = await client.listTools();
		const volume = tools.find(({ name }) => name.endsWith("set_volume"));
		assert.equal(volume?.annotations?.readOnlyHint, true);
	});

	it("cost clients of 2024-11-05 nothing", async (t) => {
		const side = await connect(t);
		const old = { supportedProtocolVersions: ["2024-11-05"] };
		const client = await connectClient(t, side.clientUrl(), "2025-11-25", old);
		for (const listed of (await client.listTools()).tools) {
			assert.deepEqual(Object.keys(listed).sort(), ["description", "inputSchema", "name"]);
		}
	});

	it("are checked when the configuration is read", () => {
		assert.throws(() => readConfiguration({ flags: { toolHints: ["a=burns"] } }), /toolHints|tool-hints/);
	});

	it("treats a pattern's other characters as they are", () => {
		const hinted = toolHints(new Map([["a.b", "reads"]]));
		assert.equal("annotations" in hinted("axb", { name: "axb" }), false);
	});
});
