import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/testing.js";
import {
	callTool,
	connectClient,
	ERAS,
	REBOOT,
	SET_VOLUME,
	startGateway,
	startWithDevice,
	type TestGateway,
	toolNames,
	VOLUME,
	WireDevice,
} from "../testing/gateway.js";
import { postIn } from "../testing/raw-session.js";

const CATALOG_TOOLS = ["servers_list", "tools_search", "tool_describe", "tool_read", "tool_call"];

const PHOTO = {
	name: "self.camera.take_photo",
	description: "拍一张照片并解释",
	inputSchema: { type: "object", properties: {} },
	annotations: { readOnlyHint: true },
};
const ERASE = {
	name: "self.disk.eraseAll",
	description: "Erase everything.",
	inputSchema: { type: "object", properties: {} },
	outputSchema: { type: "object", properties: { erased: { type: "integer" } } },
	annotations: { destructiveHint: true },
};
const TOOLS = [SET_VOLUME, PHOTO, ERASE, REBOOT];

function urlWith(gateway: TestGateway, query: string, device?: string): URL {
	return new URL(`${gateway.clientUrl(device).href}?${query}`);
}

async function connectSearching(t: TestContext, era: keyof typeof ERAS, onCall?: () => object | undefined) {
	const gateway = await startGateway(t, { catalog: "search" });
	const device = await WireDevice.connect(t, gateway, { tools: TOOLS, ...(onCall && { onCall }) });
	return { gateway, device, client: await connectClient(t, gateway.clientUrl(), era) };
}

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	describe(`a client of ${era} that lists the catalog tools only`, () => {
		it("lists them instead of the tools of servers, and is told in the instructions how to use them", async (t) => {
			const { client } = await connectSearching(t, era);
			assert.deepEqual(await toolNames(client), CATALOG_TOOLS);
			assert.match(client.getInstructions() ?? "", /tools_search finds tools/);
		});

		it("finds tools by words in names and descriptions, with their hints", async (t) => {
			const { client } = await connectSearching(t, era);
			const { structuredContent, content } = await callTool(client, "tools_search", {
				query: "lamp speaker volume",
				limit: 1,
			});
			const annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
			assert.deepEqual(structuredContent.tools, [
				{
					name: VOLUME,
					server: "lamp_000001",
					title: "Set volume",
					description: "Set the volume.",
					annotations,
				},
			]);
			assert.match(content[0].text, /^lamp_000001__self_audio_speaker_set_volume: Set the volume\.$/);
			const erase = await callTool(client, "tools_search", { query: "erase" });
			assert.deepEqual(erase.structuredContent.tools[0].annotations, { destructiveHint: true });
			assert.equal(
				erase.content[0].text.split("\n")[0],
				"lamp_000001__self_disk_eraseAll (destructive): Erase everything.",
			);
		});

		it("calls read-only tools by tool_read, and no others", async (t) => {
			const { client, device } = await connectSearching(t, era);
			const { tools } = await client.listTools();
			assert.equal(tools.find(({ name }) => name === "tool_read")?.annotations?.readOnlyHint, true);
			const photo = await callTool(client, "tool_read", { name: "lamp_000001__self_camera_take_photo" });
			assert.deepEqual(photo.content, [{ type: "text", text: "true" }]);
			const volume = await callTool(client, "tool_read", { name: VOLUME, arguments: { volume: 5 } });
			assert.ok(volume.isError);
			assert.match(volume.content[0].text, /not known to be read-only: use tool_call/);
			assert.equal(device.calls.length, 1);
		});

		it("is shown a tool's schema and hints", async (t) => {
			const { client } = await connectSearching(t, era);
			const { structuredContent } = await callTool(client, "tool_describe", { name: VOLUME });
			assert.deepEqual(structuredContent.tool.inputSchema, SET_VOLUME.inputSchema);
			assert.deepEqual(structuredContent.server, { name: "lamp_000001", online: true });
			const erase = await callTool(client, "tool_describe", { name: "lamp_000001__self_disk_eraseAll" });
			assert.deepEqual(erase.structuredContent.tool.annotations, ERASE.annotations);
			assert.deepEqual(erase.structuredContent.tool.outputSchema, ERASE.outputSchema);
		});

		it("calls a tool and gets its result as it is", async (t) => {
			const result = {
				content: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }],
				structuredContent: { erased: 3 },
			};
			const { client, device } = await connectSearching(t, era, () => result);
			const answer = await callTool(client, "tool_call", { name: "lamp_000001__self_disk_eraseAll", arguments: {} });
			assert.deepEqual(answer.content, result.content);
			assert.deepEqual(answer.structuredContent, result.structuredContent);
			const names = device.calls.map(({ name }) => name);
			assert.deepEqual(names, ["self.disk.eraseAll"]);
		});

		it("does not find, see or call user-only tools", async (t) => {
			const { client, device } = await connectSearching(t, era);
			const { structuredContent } = await callTool(client, "tools_search", { query: "reboot restart" });
			assert.deepEqual(structuredContent.tools, []);
			for (const name of ["tool_describe", "tool_call"]) {
				const answer = await callTool(client, name, { name: "lamp_000001__self_reboot" });
				assert.equal(answer.isError, true);
				assert.match(answer.content[0].text, /Unknown tool: lamp_000001__self_reboot/);
			}
			assert.deepEqual(device.calls, []);
		});

		it("gets the progress of the called tool, and can cancel it", async (t) => {
			const gateway = await startGateway(t, { catalog: "search" });
			const device = await WireDevice.connect(t, gateway, {
				onCall: ({ progressToken }, self) => {
					self.notify("notifications/progress", { progressToken, progress: 1, total: 2 });
					return undefined;
				},
			});
			const client = await connectClient(t, gateway.clientUrl(), era);
			const stop = new AbortController();
			const told: unknown[] = [];
			const params = { name: "tool_call", arguments: { name: VOLUME, arguments: { volume: 1 } } };
			const calling = client.callTool(params, {
				signal: stop.signal,
				onprogress: (progress) => {
					told.push(progress.progress);
					stop.abort();
				},
			});
			await assert.rejects(calling);
			assert.deepEqual(told, [1]);
			await until(() => device.cancelled.length === 1, "the device is told");
		});

		it("lists the servers that it may reach", async (t) => {
			const { client, gateway } = await connectSearching(t, era);
			const second = await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:00:02", board: "clock" });
			await second.unplug();
			const { structuredContent, content } = await callTool(client, "servers_list", {});
			assert.deepEqual(structuredContent.servers, [
				{ name: "clock_000002", board: "clock 1.0.0", online: false, tools: 1 },
				{ name: "lamp_000001", board: "lamp 1.0.0", online: true, tools: 3 },
			]);
			assert.equal(
				content[0].text,
				"clock_000002 (clock 1.0.0): offline, 1 tool\nlamp_000001 (lamp 1.0.0): online, 3 tools",
			);
			const some = await callTool(client, "servers_list", { query: "CLOCK" });
			assert.equal(some.structuredContent.total, 1);
		});

		it("is told of arguments that the catalog tools do not have", async (t) => {
			const { client } = await connectSearching(t, era);
			const answer = await callTool(client, "tools_search", { query: "", limit: 1_000 });
			assert.equal(answer.isError, true);
			assert.match(answer.content[0].text, /^tools_search: query: .*; limit: /);
		});

		it("lists every tool if its URL says so, and pinned tools besides the catalog tools", async (t) => {
			const { gateway } = await connectSearching(t, era);
			const full = await connectClient(t, urlWith(gateway, "catalog=full"), era);
			assert.equal((await toolNames(full)).length, 3);
			const found = await callTool(full, "tools_search", { query: "volume" });
			assert.equal(found.structuredContent.tools[0].name, VOLUME, "a catalog tool works where it is not listed, too");
			const pinned = await connectClient(t, urlWith(gateway, "pinnedTools=lamp_000001__self_audio*,other"), era);
			assert.deepEqual(await toolNames(pinned), [...CATALOG_TOOLS, VOLUME]);
		});
	});

	it(`a client of ${era}, if the number of tools crosses the limit, is told that its list has changed then, and not while the list stays the same`, async (t) => {
		const { side: gateway, device } = await startWithDevice(t, { catalogLimit: 2 }, { tools: [SET_VOLUME, PHOTO] });
		const client = await connectClient(t, gateway.clientUrl(), era);
		let told = 0;
		client.setNotificationHandler("notifications/tools/list_changed", () => {
			told += 1;
		});
		if (era === "2026-07-28") {
			await client.listen({ toolsListChanged: true });
		}
		assert.equal((await toolNames(client)).length, 2);
		device.changeTools(TOOLS);
		await until(() => told === 1, "the list has changed");
		assert.deepEqual(await toolNames(client), CATALOG_TOOLS);
		await WireDevice.connect(t, gateway, { id: "aa:bb:cc:00:00:02", board: "clock" });
		const found = await callTool(client, "tools_search", { query: "clock volume" });
		assert.equal(found.structuredContent.tools[0].name, "clock_000002__self_audio_speaker_set_volume");
		assert.equal(told, 1);
		device.changeTools([SET_VOLUME]);
		await until(() => told === 2, "the list has changed back");
		assert.equal((await toolNames(client)).length, 2);
	});
}

describe("the catalog that a client asks for in its URL", () => {
	for (const [query, problem] of [
		["catalog=some", "catalog: expected one of auto, full, search, groups"],
		["catalogLimit=-1", "catalogLimit: expected a whole number from 0 to 999999"],
		["pinnedTools=a*b", 'pinnedTools: expected names, or beginnings of names with "*" at the end'],
		[`pinnedTools=${"a,".repeat(101)}`, "pinnedTools: expected at most 100 names"],
	]) {
		it(`is rejected with an error that names the parameter: ${query?.slice(0, 20)}`, async (t) => {
			const gateway = await startGateway(t);
			const { status, text } = await postIn(urlWith(gateway, query as string), { method: "tools/list" });
			assert.deepEqual([status, JSON.parse(text).error.message], [400, problem]);
		});
	}

	it("works for one device, too, whose tool of the same name as a catalog tool is called through tool_call", async (t) => {
		const gateway = await startGateway(t);
		const tools = [{ name: "tools_search", inputSchema: { type: "object", properties: {} } }];
		const device = await WireDevice.connect(t, gateway, { tools });
		const client = await connectClient(t, gateway.clientUrl("lamp_000001"), "2025-11-25");
		await callTool(client, "tools_search", {});
		assert.equal(device.calls.length, 1, "a full list has the device's tool");
		const access = gateway.gateway.catalog(gateway.access, "lamp_000001", { catalog: "search", pinnedTools: ["*"] });
		const names = access.tools.map(({ name }) => name);
		assert.deepEqual(names, CATALOG_TOOLS);
	});
});
