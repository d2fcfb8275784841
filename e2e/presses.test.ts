import { it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { connectClient, nextOnline, startGateway } from "xs-mcp-gateway/testing/gateway";
import { until } from "../host-test/support/testing.js";
import { bundleManifest, ENGINE, startDevice } from "./fixtures.js";

const script = await bundleManifest("host-test/fixtures/presses/manifest.json");

it(`a feature in a folder that one line of the manifest names, firmware on ${ENGINE.kind}, counts presses and offers a tool, without a change of the firmware`, async (t) => {
	const side = await startGateway(t);
	const online = nextOnline(side.gateway.servers);
	const { device } = await startDevice(t, ENGINE, { config: { backend: side.deviceUrl }, script });
	const client = await connectClient(t, side.clientUrl((await online).alias), "2025-11-25");
	await device.press();
	await device.press();
	const count = async () => (await client.callTool({ name: "self_presses_count", arguments: {} })).structuredContent;
	await until(async () => isDeepStrictEqual(await count(), { boot: 2 }), "both presses are counted");
});
