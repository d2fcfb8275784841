import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { connectHost, ERAS, REBOOT, SET_VOLUME, startGateway, until, WireDevice } from "./test-gateway.js";

const names = (list: { tools: { name: string }[] }): string[] => list.tools.map(({ name }) => name);

for (const era of Object.keys(ERAS) as (keyof typeof ERAS)[]) {
	describe(`a host of ${era}, over Streamable HTTP`, { timeout: 20_000 }, () => {
		it("lists and calls the tools of a device under their own names", async (t) => {
			const gateway = await startGateway(t);
			const device = await WireDevice.connect(t, gateway);
			const host = await connectHost(t, gateway.hostUrl(), era);
			assert.equal(host.getNegotiatedProtocolVersion(), era);
			assert.deepEqual(names(await host.listTools()), [SET_VOLUME.name]);
			const result = await host.callTool({ name: SET_VOLUME.name, arguments: { volume: 30 } });
			assert.deepEqual(result.content, [{ type: "text", text: "true" }]);
			assert.deepEqual(device.calls[0]?.arguments, { volume: 30 });
		});
	});
}
