import assert from "node:assert/strict";
import { it } from "node:test";
import { until } from "../../../host-test/support/until.js";
import { connectClient, ERAS, openGateway, SET_VOLUME, serveClients } from "../support/gateway.js";
import { MemoryDevice } from "../support/memory-device.js";

const DEVICES = 5_000;
const TOOLS = Array.from({ length: 7 }, (_, index) => ({ ...SET_VOLUME, name: `self.part_${index}.set_volume` }));

it("the SDK's clients list all tools of 5,000 devices", async (t) => {
	const gateway = await openGateway(t);
	const side = await serveClients(t, gateway);
	for (let index = 0; index < DEVICES; index += 1) {
		gateway.servers.connect(new MemoryDevice({ id: `device-${index}`, tools: TOOLS }));
	}
	await until(() => gateway.servers.all.length === DEVICES, "all are known");
	for (const era of Object.keys(ERAS) as (keyof typeof ERAS)[]) {
		const client = await connectClient(t, new URL(`${side.clientUrl()}?catalog=full`), era);
		const { tools } = await client.listTools();
		assert.equal(new Set(tools.map(({ name }) => name)).size, 1 + DEVICES * TOOLS.length, "and tool_call");
		const last = tools.at(-1)?.name ?? "";
		const { isError } = await client.callTool({ name: last, arguments: { volume: 5 } });
		assert.equal(isError, false);
	}
});
