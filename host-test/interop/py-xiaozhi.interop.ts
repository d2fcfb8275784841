import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { connectOverHttp } from "../e2e/clients.js";
import { type RunningGateway, startGateway, untilKnown } from "../e2e/gateway-process.js";
import { findPeer } from "./peers.js";
import { startPyXiaozhi } from "./py-xiaozhi.js";
import { makeFolder } from "./python.js";

/** Milliseconds for one run: a peer in Python takes a while to start. */
const TIMEOUT = 120_000;

const { title, folder = "", skip } = findPeer("PY_XIAOZHI");

const MAC = "02:00:00:00:2b:01";

async function runGateway(t: TestContext, ...flags: string[]): Promise<RunningGateway> {
	const gateway = await startGateway(makeFolder(t), ...flags);
	t.after(() => gateway.program.stop());
	return gateway;
}

/** Lists the tools of the one device, calls two, and says what came. */
async function useDevice(t: TestContext, gateway: RunningGateway): Promise<void> {
	await untilKnown(gateway, 1);
	const client = await connectOverHttp(`${gateway.base}/mcp/${MAC}`, "2025-11-25");
	t.after(() => client.close());
	const { tools } = await client.listTools();
	const names = tools.map(({ name }) => name);
	const find = (word: string): string => names.find((name) => name.includes(word)) ?? assert.fail(names.join());
	const status = await client.callTool({ name: find("get_status"), arguments: {} });
	assert.notEqual(status.isError, true, JSON.stringify(status));
	const failed = await client.callTool({ name: find("get_volume"), arguments: {} }).catch((error) => error);
	t.diagnostic(
		`${tools.length} tools; ${JSON.stringify(status.content).slice(0, 60)}; ${JSON.stringify(failed).slice(0, 200)}`,
	);
}

describe(title, { skip }, () => {
	it("as a device over WebSocket at our gateway: tools listed, one called", { timeout: TIMEOUT }, async (t) => {
		const gateway = await runGateway(t);
		await startPyXiaozhi(t, folder, "websocket", MAC, {
			WEBSOCKET_URL: gateway.deviceUrl,
			WEBSOCKET_ACCESS_TOKEN: "t",
		});
		await useDevice(t, gateway);
	});

	it("as a device over MQTT at our gateway: tools listed, one called", { timeout: TIMEOUT }, async (t) => {
		const gateway = await runGateway(t, "--mqtt", "--mqtt-port", "0");
		await startPyXiaozhi(t, folder, "mqtt", MAC, {
			MQTT_INFO: {
				endpoint: new URL(gateway.program.said(/"mqtt":"([^"]+)"/)).host,
				client_id: MAC,
				username: "device",
				password: "secret",
				publish_topic: `xs-mcp/${MAC}/up`,
				subscribe_topic: `xs-mcp/${MAC}/down`,
			},
		});
		await useDevice(t, gateway);
	});
});
