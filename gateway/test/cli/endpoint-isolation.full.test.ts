import assert from "node:assert/strict";
import { it } from "node:test";
import { until } from "../../../host-test/support/until.js";
import { start } from "../support/command-line.js";
import { EndpointPeer } from "../support/endpoint.js";
import { startProgramWithDevice } from "../support/program.js";

const UPDATED = "notifications/resources/updated";

it("agents behind two endpoints of one command see only their own subscriptions and log messages", async (t) => {
	const peers = [await EndpointPeer.listen(t), await EndpointPeer.listen(t)];
	const [one, other] = peers as [EndpointPeer, EndpointPeer];
	const { started, device } = await startProgramWithDevice(t, {
		capabilities: { tools: {}, logging: {}, resources: { subscribe: true } },
		answers: {
			"tools/list": () => ({ tools: [{ name: "work", inputSchema: { type: "object" } }] }),
			"tools/call": (_asked, self) => {
				self.notify("notifications/message", { level: "warning", data: "for the caller" });
				return { content: [] };
			},
			"resources/list": () => ({ resources: [{ uri: "device://self/x", name: "x" }] }),
			"resources/read": ({ params: { uri } }) => ({ contents: [{ uri, text: "" }] }),
		},
	});
	start(t, ["endpoint", one.url, other.url], { XS_MCP_GATEWAY_URL: started.base });
	for (const peer of peers) {
		await peer.connected();
		await peer.initialize();
	}
	await one.ask("subscribe", "resources/subscribe", { uri: "device://lamp_000001/x" });
	device.notify(UPDATED, { uri: "device://self/x" });
	await one.call("work", "lamp_000001__work");
	await one.notified(UPDATED);
	await one.notified("notifications/message");
	await other.ask("ping", "ping");
	assert.deepEqual(
		other.received.filter(({ method }) => method === UPDATED || method === "notifications/message"),
		[],
	);
	one.disconnect();
	await until(() => device.methods.includes("resources/unsubscribe"), "its subscription ends with its session");
});
