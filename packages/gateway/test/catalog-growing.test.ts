import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/testing.js";
import {
	callTool,
	connectClient,
	ERAS,
	LOCAL,
	startGateway,
	startWithDevice,
	type TestGateway,
	toolNames,
	WireDevice,
} from "../testing/gateway.js";

type Era = keyof typeof ERAS;

const LIGHT = {
	name: "self.light.set",
	description: "Switch a light on or off.",
	inputSchema: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
	annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};
const STATUS = {
	name: "self.get_status",
	description: "Read the state of the device.",
	inputSchema: { type: "object", properties: {} },
	annotations: { readOnlyHint: true },
};
const OTHERS = ["volume", "brightness", "theme", "timer", "chime", "servo", "text", "alarm"].map((part) => ({
	...LIGHT,
	name: `self.${part}.set`,
	description: `Set the ${part}.`,
}));
const TOOLS = [LIGHT, STATUS, ...OTHERS];

const CATALOG_TOOLS = ["servers_list", "tools_search", "tool_describe", "tool_read", "tool_call"];
/** The names of groups: the tools without their devices. */
const GROUPS = TOOLS.map(({ name }) => name.replaceAll(".", "_"));

const aliasOf = (index: number) => `lamp_0000${index.toString(16).padStart(2, "0")}`;

/** Devices with ten tools each, from one index to another. */
async function connectDevices(t: TestContext, gateway: TestGateway, from: number, to: number): Promise<WireDevice[]> {
	const connecting = Array.from({ length: to - from }, (_, each) => {
		const id = `aa:bb:cc:00:00:${(from + each).toString(16).padStart(2, "0")}`;
		return WireDevice.connect(t, gateway, { id, tools: TOOLS });
	});
	return await Promise.all(connecting);
}

/** Whether a list is of every tool, of groups, or of the catalog tools. */
function kindOf(names: readonly string[]): string {
	const isFull = names.includes(`${aliasOf(1)}__self_text_set`);
	return isFull ? "full" : names.includes("self_text_set") ? "groups" : "search";
}

describe("the list of a client with catalog=auto, as devices are added", () => {
	for (const era of cases(Object.keys(ERAS) as Era[])) {
		it(`for a client of ${era}: every tool of 8, groups of 9, which keep what was used, and search from 33`, async (t) => {
			const gateway = await startGateway(t);
			await connectDevices(t, gateway, 0, 8);
			const client = await connectClient(t, gateway.clientUrl(), era);
			const used = `${aliasOf(3)}__self_light_set`;
			assert.equal((await toolNames(client)).length, 81, "and tool_call, for several devices");
			await callTool(client, used, { on: true });
			await connectDevices(t, gateway, 8, 9);
			await until(async () => (await toolNames(client)).length !== 81, "the list has changed");
			assert.deepEqual(await toolNames(client), ["servers_list", ...GROUPS, used]);
			await callTool(client, "self_chime_set", { devices: ["all"], on: true });
			await connectDevices(t, gateway, 9, 32);
			assert.deepEqual(await toolNames(client), ["servers_list", ...GROUPS, used]);
			await connectDevices(t, gateway, 32, 33);
			await until(async () => kindOf(await toolNames(client)) === "search", "the list has changed");
			assert.deepEqual(await toolNames(client), [...CATALOG_TOOLS, "self_chime_set", used]);
		});
	}

	it("does not change to and fro: it is short again once there are three quarters of what it was long for", async (t) => {
		const gateway = await startGateway(t, { changeDelay: 1 });
		const devices = await connectDevices(t, gateway, 0, 9);
		const catalog = gateway.gateway.catalog(LOCAL);
		const kinds: string[] = [];
		const note = () => void kinds.push(kindOf(catalog.tools.map(({ name }) => name)));
		note();
		for (const index of [8, 7, 6]) {
			await devices[index]?.unplug();
			await gateway.gateway.servers.forget(aliasOf(index));
			note();
		}
		await connectDevices(t, gateway, 6, 8);
		note();
		assert.deepEqual(kinds, ["groups", "groups", "groups", "full", "full"]);
	});
});

describe("one call for all lights of 50 devices", () => {
	const OFF = { devices: ["all"], on: false };
	for (const catalog of ["auto", "full", "groups", "search"] as const) {
		it(`works with catalog=${catalog}, by a tool that is listed`, async (t) => {
			const gateway = await startGateway(t, { catalog });
			const devices = await connectDevices(t, gateway, 0, 50);
			const client = await connectClient(t, gateway.clientUrl(), "2026-07-28");
			const names = await toolNames(client);
			const isGrouped = names.includes("self_light_set");
			assert.equal(isGrouped || names.includes("tool_call"), true);
			const calls: [string, object][] = [
				["self_light_set", OFF],
				...(isGrouped
					? []
					: ([
							["tool_call", { name: "self_light_set", arguments: OFF }],
							["tool_call", { name: "self_light_set", devices: ["all"], arguments: { on: false } }],
							["tool_call", { name: `${aliasOf(1)}__self_light_set`, devices: ["all"], arguments: { on: false } }],
						] as [string, object][])),
			];
			for (const [index, [name, args]] of calls.entries()) {
				const { structuredContent, isError } = await callTool(client, name, args);
				assert.ok(!isError);
				assert.deepEqual([structuredContent.results.length, structuredContent.failed], [50, 0]);
				assert.ok(devices.every(({ calls: got }) => got.length === index + 1));
				assert.deepEqual(devices[49]?.calls[index]?.arguments, { on: false });
			}
		});
	}

	it("is found by a search that names no device, and described with the argument for devices", async (t) => {
		const gateway = await startGateway(t);
		await connectDevices(t, gateway, 0, 50);
		const client = await connectClient(t, gateway.clientUrl(), "2025-11-25");
		const all = await callTool(client, "tools_search", { query: "turn off all lights", limit: 1 });
		assert.deepEqual(
			all.structuredContent.tools.map(({ name, devices }: Record<string, unknown>) => [name, devices]),
			[["self_light_set", 50]],
		);
		assert.match(all.content[0].text, /^self_light_set \(50 devices\): Switch a light/);
		const one = await callTool(client, "tools_search", { query: "turn off the light of lamp 000021", limit: 1 });
		assert.equal(one.structuredContent.tools[0].name, "lamp_000021__self_light_set");
		const { structuredContent } = await callTool(client, "tool_describe", { name: "self_light_set" });
		assert.deepEqual(structuredContent.tool.inputSchema.required, ["devices", "on"]);
		const status = await callTool(client, "tool_read", { name: "self_get_status", devices: ["all"] });
		assert.equal(status.structuredContent.results.length, 50);
		const refused = await callTool(client, "tool_read", { name: "self_light_set", arguments: OFF });
		assert.match(refused.content[0].text, /not known to be read-only/);
	});

	it("is told of devices for a tool that only one device has", async (t) => {
		const { side: gateway } = await startWithDevice(t, { catalog: "search" }, { tools: TOOLS });
		const client = await connectClient(t, gateway.clientUrl(), "2025-11-25");
		const args = { name: `${aliasOf(1)}__self_light_set`, devices: ["all"], arguments: { on: true } };
		const { isError, content } = await callTool(client, "tool_call", args);
		assert.equal(isError, true);
		assert.equal(content[0].text, "devices: only one device has lamp_000001__self_light_set: leave it out");
	});

	it("reads several devices with catalog=full and a read-only token", async (t) => {
		const gateway = await startGateway(t, { catalog: "full" });
		await connectDevices(t, gateway, 0, 2);
		gateway.access = { ...LOCAL, readOnly: true };
		const client = await connectClient(t, gateway.clientUrl(), "2025-11-25");
		assert.deepEqual(await toolNames(client), [
			"tool_read",
			`${aliasOf(0)}__self_get_status`,
			`${aliasOf(1)}__self_get_status`,
		]);
		const { structuredContent } = await callTool(client, "tool_read", { name: "self_get_status", devices: ["all"] });
		assert.equal(structuredContent.results.length, 2);
	});
});
