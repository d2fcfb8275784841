import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connectClient, startGateway, startWithDevice, WireDevice } from "../testing/gateway.js";

it("a description that names another tool of its device names it as the client knows it", async (t) => {
	const gateway = await startGateway(t);
	const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: "object" } });
	const tools = [
		tool("self.get_device_status", "First step. Not self.get_device_status_long, itself."),
		tool("self.set", "Read it with self.get_device_status first; self.set.all is another."),
		tool("list", "List what self.set has set."),
	];
	await WireDevice.connect(t, gateway, { tools });
	const described = async (device?: string) => {
		const client = await connectClient(t, gateway.clientUrl(device), "2025-11-25");
		return (await client.listTools()).tools.map(({ description }) => description);
	};
	assert.deepEqual(await described(), [
		"First step. Not self.get_device_status_long, itself.",
		"Read it with lamp_000001__self_get_device_status first; self.set.all is another.",
		"List what lamp_000001__self_set has set.",
	]);
	assert.equal(
		(await described("lamp_000001"))[1],
		"Read it with self_get_device_status first; self.set.all is another.",
	);
});

describe("a description of a tool that is found by catalog tools, or in a schema", () => {
	const tools = [
		{ name: "self.get_device_status", inputSchema: { type: "object" } },
		{
			name: "self.timer.set",
			description: "Read self.get_device_status first.",
			inputSchema: {
				type: "object",
				properties: { description: { type: "string", description: "not for self.timer.set" } },
			},
			outputSchema: {
				type: "object",
				properties: { id: { type: "integer", description: "For self.get_device_status" } },
			},
		},
	];
	const STATUS = "lamp_000001__self_get_device_status";

	it("names tools as the client knows them", async (t) => {
		const { side: gateway } = await startWithDevice(t, { catalogLimit: 0 }, { tools });
		const client = await connectClient(t, gateway.clientUrl(), "2025-11-25");
		const describe = { name: "tool_describe", arguments: { name: "lamp_000001__self_timer_set" } };
		const { structuredContent } = await client.callTool(describe);
		const { tool } = structuredContent as { tool: Record<string, unknown> };
		assert.equal(tool.description, `Read ${STATUS} first.`);
		assert.deepEqual(tool.outputSchema, {
			type: "object",
			properties: { id: { type: "integer", description: `For ${STATUS}` } },
		});
		assert.match(JSON.stringify(tool.inputSchema), /not for lamp_000001__self_timer_set/);
		const search = await client.callTool({ name: "tools_search", arguments: { query: "timer" } });
		assert.match(JSON.stringify(search.structuredContent), new RegExp(`Read ${STATUS} first`));
	});
});

describe("the page of a tool (MCP Apps)", () => {
	const page = {
		ui: { resourceUri: "ui://clock/page", visibility: ["model"] },
		"ui/resourceUri": "ui://clock/page",
		other: 1,
	};

	it("has the URI by which the client reads it", async (t) => {
		const gateway = await startGateway(t);
		const tools = [{ name: "clock", inputSchema: { type: "object" }, _meta: page }];
		await WireDevice.connect(t, gateway, { tools });
		const metaOf = async (device?: string) => {
			const client = await connectClient(t, gateway.clientUrl(device), "2025-11-25");
			return (await client.listTools()).tools[0]?._meta;
		};
		const resourceUri = "on-device://lamp_000001/ui://clock/page";
		assert.deepEqual(await metaOf(), {
			ui: { resourceUri, visibility: ["model"] },
			"ui/resourceUri": resourceUri,
			other: 1,
		});
		assert.deepEqual(await metaOf("lamp_000001"), page);
	});
});
