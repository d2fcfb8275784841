import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import type { ServerTool } from "xs-mcp-manager/core";
import { until } from "../../../host-test/support/until.js";
import { startGateway, WireDevice } from "../support/gateway.js";
import { startProgram } from "../support/program.js";

const LAMP = "aa:bb:cc:00:00:01";

describe("a device over WebSocket", () => {
	it("is disconnected when its token is removed, even before its hello", async (t) => {
		const started = await startProgram(t);
		await started.tokens.add({ name: "others", kind: "device" });
		const token = await started.tokens.add({ name: "lamp", kind: "device" });
		const headers = { "device-id": LAMP, authorization: `Bearer ${token}` };
		const socket = new WebSocket(started.deviceUrl, { headers });
		await once(socket, "open");
		await started.tokens.remove("lamp");
		const [, reason] = await once(socket, "close");
		assert.equal(String(reason), "the token is no longer valid");
	});

	it("is disconnected when it does not read what is sent to it", async (t) => {
		const side = await startGateway(t, { callsPerServer: 1_000 });
		const tool = { name: "say", inputSchema: { type: "object", properties: { text: { type: "string" } } } };
		const device = await WireDevice.connect(t, side, { tools: [tool], onCall: () => undefined });
		device.stopReading();
		const server = side.gateway.servers.find(LAMP);
		const calls = Array.from({ length: 400 }, () =>
			server?.calls.call("somebody", server.tools[0] as ServerTool, { text: "x".repeat(60_000) }),
		);
		const results = await Promise.allSettled(calls);
		assert.ok(results.every(({ status }) => status === "rejected"));
		await until(() => server?.online === false, "the device is offline");
	});
});
