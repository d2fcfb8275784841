import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { connectClient, SET_VOLUME } from "../testing/gateway.js";
import { callUntilArrived, LAMP, startTwoWithLamp, untilOnline, VOLUME } from "../testing/gateways.js";
import { whyNoNats } from "../testing/nats-server.js";

describe("gateways of a cluster", { skip: whyNoNats }, () => {
	it("serve each other's devices: calls, progress, cancellation, changes of tools, state, offline", async (t) => {
		const { b, device } = await startTwoWithLamp(t, { onCall: () => undefined });
		const client = await connectClient(t, new URL(`${b.base}/mcp`), "2026-07-28");

		const progress: number[] = [];
		const { result: call } = await callUntilArrived(device, () =>
			client.callTool(
				{ name: VOLUME, arguments: { volume: 7 } },
				{ onprogress: (each) => void progress.push(each.progress) },
			),
		);
		const { id, progressToken, arguments: args } = device.calls[0] as (typeof device.calls)[0];
		assert.deepEqual(args, { volume: 7 });
		device.notify("notifications/progress", { progressToken, progress: 1 });
		device.notify("notifications/progress", { progressToken, progress: 2 });
		device.answer(id, { content: [{ type: "text", text: "set" }] });
		assert.deepEqual((await call).content, [{ type: "text", text: "set" }]);
		assert.deepEqual(progress, [1, 2]);

		const controller = new AbortController();
		const { result: cancelled } = await callUntilArrived(device, () =>
			client.callTool({ name: VOLUME, arguments: { volume: 8 } }, { signal: controller.signal }),
		);
		controller.abort();
		await assert.rejects(cancelled);
		await until(() => device.cancelled.length === 1, "the device was told");

		device.tools = [
			SET_VOLUME,
			{ name: "self.new", description: "New.", inputSchema: { type: "object", properties: {} } },
		];
		device.notify("notifications/tools/list_changed");
		const toolsOfB = () => b.gateway.servers.find(LAMP)?.tools.map(({ name }) => name);
		await until(() => toolsOfB()?.includes("self.new") === true, "b has the new tools");

		device.notify("notifications/state_changed", { newState: "speaking" });
		await until(() => b.gateway.servers.find(LAMP)?.state === "speaking", "b has the state");

		await device.unplug();
		await untilOnline(b, false);
		assert.equal(device.calls.length, 2);
	});
});
