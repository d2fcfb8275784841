import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { cases } from "../../../host-test/support/scope.js";
import { testWith, until } from "../../../host-test/support/testing.js";
import {
	callTool,
	connectClient,
	ERAS,
	LOCAL,
	REBOOT,
	SET_VOLUME,
	startGateway,
	WireDevice,
} from "../testing/gateway.js";

const IDS = { kitchen: "aa:bb:cc:00:00:01", garage: "aa:bb:cc:00:00:02", attic: "aa:bb:cc:00:00:03" };
const ALIASES = new Map(Object.entries(IDS).map(([alias, id]) => [id, alias]));

const LIGHT = {
	name: "self.light.set",
	description: "Switch the light. Ask self.get_status first.",
	inputSchema: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] },
	annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};
const STATUS = { name: "self.get_status", description: "Status.", inputSchema: { type: "object", properties: {} } };
const FILTER = {
	name: "self.filter",
	inputSchema: { type: "object", properties: {}, allOf: [{ additionalProperties: false }] },
};
const TOOLS = [LIGHT, STATUS, FILTER, REBOOT];

interface Home {
	/** By alias. */
	readonly tools?: Partial<Record<keyof typeof IDS, readonly object[]>>;
	readonly onCall?: Partial<Record<keyof typeof IDS, () => object | undefined>>;
	readonly era?: keyof typeof ERAS;
}

async function openHome(t: TestContext, { tools = {}, onCall = {}, era = "2025-11-25" }: Home = {}) {
	const gateway = await startGateway(t, { catalog: "groups", aliases: ALIASES, offlineWait: 1 });
	const connect = async (alias: keyof typeof IDS) => {
		const own = onCall[alias];
		return await WireDevice.connect(t, gateway, {
			id: IDS[alias],
			tools: tools[alias] ?? TOOLS,
			...(own && { onCall: own }),
		});
	};
	const devices = {
		kitchen: await connect("kitchen"),
		garage: await connect("garage"),
		attic: await connect("attic"),
	};
	return { gateway, devices, client: await connectClient(t, gateway.clientUrl(), era) };
}

const itHome = testWith(openHome);

async function toolsOf(client: Client) {
	return new Map((await client.listTools()).tools.map((tool) => [tool.name, tool]));
}

describe("a client that lists groups", () => {
	for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
		it(`of ${era} lists a tool of several devices once, with its hints, and turns off all lights in one call`, async (t) => {
			const { client, devices } = await openHome(t, { era });
			const tools = await toolsOf(client);
			assert.deepEqual(
				[...tools.keys()],
				[
					"servers_list",
					"self_light_set",
					"self_get_status",
					"attic__self_filter",
					"garage__self_filter",
					"kitchen__self_filter",
				],
			);
			const light = tools.get("self_light_set");
			assert.equal(light?.description, "Switch the light. Ask self_get_status first.");
			assert.deepEqual(light?.annotations, LIGHT.annotations);
			assert.deepEqual(light?.inputSchema, {
				type: "object",
				properties: {
					devices: {
						type: "array",
						items: { type: "string", enum: ["all", "attic", "garage", "kitchen"] },
						minItems: 1,
						description: 'Devices, tags of several, or "all"',
					},
					on: { type: "boolean" },
				},
				required: ["devices", "on"],
			});
			assert.match(client.getInstructions() ?? "", /listed once/);
			const { content, structuredContent, isError } = await callTool(client, "self_light_set", {
				devices: ["all"],
				on: false,
			});
			const found = Object.values(devices).map(({ calls }) => calls.map(({ name, arguments: args }) => [name, args]));
			assert.deepEqual(found, Array(3).fill([["self.light.set", { on: false }]]));
			assert.deepEqual(content, [{ type: "text", text: "attic: true\ngarage: true\nkitchen: true" }]);
			assert.deepEqual(structuredContent, {
				results: ["attic", "garage", "kitchen"].map((device) => ({ device, ok: true, result: "true" })),
				failed: 0,
			});
			assert.ok(!isError);
		});
	}

	itHome("calls the devices that it names, by alias and by tag, each once", async ({ client, gateway, devices }) => {
		const { servers } = gateway.gateway;
		await servers.edit("attic", { tags: ["upstairs"] });
		await servers.edit("garage", { tags: ["cars", "upstairs"] });
		const tagged = async () => JSON.stringify((await toolsOf(client)).get("self_light_set")?.inputSchema);
		await until(async () => (await tagged()).includes("upstairs"), "the list names the tags");
		const result = await callTool(client, "self_light_set", { devices: ["upstairs", "garage"], on: true });
		assert.equal(result.content[0].text, "attic: true\ngarage: true");
		await callTool(client, "self_light_set", { devices: "kitchen", on: true });
		const found = Object.values(devices).map(({ calls }) => calls.length);
		assert.deepEqual(found, [1, 1, 1]);
		const list = await callTool(client, "servers_list", { query: "upstairs" });
		assert.match(list.content[0].text, /^attic \(lamp 1\.0\.0, tags upstairs\): online/);
		assert.equal(list.structuredContent.total, 2);
	});

	it("is told which devices have failed, and why; only if all have is the call failed", async (t) => {
		const failure = () => ({ content: [{ type: "text", text: "no bulb" }], isError: true });
		const picture = { type: "image", data: "aGk=", mimeType: "image/png" };
		const { client, devices } = await openHome(t, {
			onCall: { garage: failure, attic: () => ({ content: [{ type: "text", text: "done" }, picture] }) },
		});
		await devices.kitchen.unplug();
		const some = await callTool(client, "self_light_set", { devices: ["all"], on: true });
		assert.match(
			some.content[0].text,
			/^2 of 3 failed\nattic: done\ngarage: failed: no bulb\nkitchen: failed: kitchen is offline/,
		);
		assert.deepEqual(some.content.slice(1), [{ type: "text", text: "attic:" }, picture]);
		assert.deepEqual([some.isError ?? false, some.structuredContent.failed], [false, 2]);
		const all = await callTool(client, "self_light_set", { devices: ["garage", "kitchen"], on: true });
		assert.equal(all.isError, true);
	});

	itHome("is told of wrong arguments before anything is sent", async ({ client, devices }) => {
		for (const [args, text] of [
			[{ on: true }, /^devices: expected a list of devices, tags or "all"/],
			[{ devices: [], on: true }, /^devices: expected a list/],
			[
				{ devices: ["kitchen", "cellar"], on: true },
				/no device or tag "cellar" .*expected all, attic, garage, kitchen$/,
			],
			[{ devices: ["all"], on: "yes" }, /on: /],
		] as const) {
			const { isError, content } = await callTool(client, "self_light_set", args);
			assert.equal(isError, true);
			assert.match(content[0].text, text);
		}
		assert.deepEqual(
			Object.values(devices).flatMap(({ calls }) => calls),
			[],
		);
	});

	it("reaches only the devices of its token, and user-only tools only where it may", async (t) => {
		const { gateway, devices } = await openHome(t);
		gateway.access = { ...LOCAL, devices: new Set([IDS.kitchen, IDS.attic]), userTools: new Set([IDS.attic]) };
		const client = await connectClient(t, gateway.clientUrl(), "2025-11-25");
		const tools = await toolsOf(client);
		assert.deepEqual(
			[tools.has("self_light_set"), tools.has("self_reboot"), tools.has("attic__self_reboot")],
			[true, false, true],
		);
		await callTool(client, "self_light_set", { devices: ["all"], on: true });
		const found = Object.values(devices).map(({ calls }) => calls.length);
		assert.deepEqual(found, [1, 0, 1]);
		const garage = await callTool(client, "self_light_set", { devices: ["garage"], on: true });
		assert.match(garage.content[0].text, /no device or tag "garage"/);
		await assert.rejects(callTool(client, "self_reboot", { devices: ["all"] }), /Unknown tool: self_reboot/);
	});

	it("finds tools of one name apart that differ in schema, hints, or an argument of the same name", async (t) => {
		const other = { ...LIGHT, inputSchema: { type: "object", properties: { level: { type: "integer" } } } };
		const choosy = {
			name: "self.choose",
			inputSchema: { type: "object", properties: { devices: { type: "string" } } },
		};
		const { client } = await openHome(t, {
			tools: { kitchen: [LIGHT, choosy], garage: [LIGHT, choosy], attic: [other, SET_VOLUME] },
		});
		assert.deepEqual(
			[...(await toolsOf(client)).keys()],
			[
				"servers_list",
				"self_light_set",
				"attic__self_light_set",
				"attic__self_audio_speaker_set_volume",
				"garage__self_choose",
				"kitchen__self_choose",
			],
		);
		const { content } = await callTool(client, "kitchen__self_light_set", { on: true });
		assert.deepEqual(content, [{ type: "text", text: "true" }], "a tool of a group is callable by its own name, too");
	});

	it("has two groups of one name told apart by a hash", async (t) => {
		const tools = [LIGHT];
		const others = [{ ...LIGHT, annotations: { ...LIGHT.annotations, destructiveHint: true } }];
		const gateway = await startGateway(t, { catalog: "groups" });
		for (const [digit, list] of [tools, tools, others, others, others].entries()) {
			await WireDevice.connect(t, gateway, { id: `aa:bb:cc:00:00:0${digit}`, tools: list });
		}
		const client = await connectClient(t, gateway.clientUrl(), "2025-11-25");
		const [, large, small, ...more] = [...(await toolsOf(client)).values()];
		assert.deepEqual([large?.name, large?.annotations?.destructiveHint, more], ["self_light_set", true, []]);
		assert.match(small?.name ?? "", /^self_light_set_[0-9a-f]{8}$/);
		const { structuredContent } = await callTool(client, small?.name ?? "", { devices: ["all"], on: true });
		assert.equal(structuredContent.results.length, 2);
	});

	itHome("of one device lists its tools as they are", async ({ gateway }, t) => {
		const client = await connectClient(t, gateway.clientUrl("kitchen"), "2025-11-25");
		assert.deepEqual([...(await toolsOf(client)).keys()], ["self_light_set", "self_get_status", "self_filter"]);
	});
});
