import assert from "node:assert/strict";
import { it } from "node:test";
import { cases } from "../../../host-test/support/scope.js";
import { connectClient, ERAS, SET_VOLUME, startGateway, WireDevice } from "../testing/gateway.js";

const TOOLS = ["set_volume", "set_brightness", "set_theme", "take_photo", "get_status"].map((name) => ({
	...SET_VOLUME,
	name: `self.part.${name}`,
	description: `What ${name} does, told to a language model in the length that such a text usually has.`,
}));

for (const era of cases(Object.keys(ERAS) as (keyof typeof ERAS)[])) {
	it(`52 devices cost a client of ${era} under 3,000 bytes of list, and each can be found and called`, async (t) => {
		const gateway = await startGateway(t);
		const devices: WireDevice[] = [];
		for (let index = 0; index < 52; index += 1) {
			const id = `aa:bb:cc:00:00:${String(index).padStart(2, "0")}`;
			devices.push(await WireDevice.connect(t, gateway, { id, tools: TOOLS }));
		}
		const full = await connectClient(t, new URL(`${gateway.clientUrl()}?catalog=full`), era);
		assert.equal((await full.listTools()).tools.length, 261, "and tool_call");
		const client = await connectClient(t, gateway.clientUrl(), era);
		const { tools } = await client.listTools();
		assert.equal(tools.length, 5);
		assert.ok(Buffer.byteLength(JSON.stringify(tools)) < 3_000);
		const grouping = await connectClient(t, new URL(`${gateway.clientUrl()}?catalog=groups`), era);
		const groups = (await grouping.listTools()).tools;
		assert.equal(groups.length, 6, "servers_list, and each tool once");
		assert.ok(Buffer.byteLength(JSON.stringify(groups)) < 4_000);
		const found = await client.callTool({ name: "tools_search", arguments: { query: "000037 volume", limit: 1 } });
		const [{ name }] = (found.structuredContent as { tools: [{ name: string }] }).tools;
		assert.equal(name, "lamp_000037__self_part_set_volume");
		await client.callTool({ name: "tool_call", arguments: { name, arguments: { volume: 7 } } });
		assert.deepEqual(devices[37]?.calls[0]?.arguments, { volume: 7 });
	});
}
