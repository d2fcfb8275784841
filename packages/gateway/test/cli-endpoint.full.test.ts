import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { run, start } from "../testing/command-line.js";
import { EndpointPeer } from "../testing/endpoint.js";
import { SET_VOLUME, VOLUME, WireDevice } from "../testing/gateway.js";
import { startProgram, startProgramWithDevice } from "../testing/program.js";

const TOOLS = [SET_VOLUME, ...Array.from({ length: 60 }, (_, index) => ({ ...SET_VOLUME, name: `tool_${index}` }))];

async function checkServed(peer: EndpointPeer): Promise<void> {
	await peer.connected();
	await peer.initialize();
	const { names, pages } = await peer.listTools();
	assert.equal(new Set(names).size, TOOLS.length);
	assert.ok(pages.length > 1 && pages.every(({ bytes }) => bytes <= 8_000), `${pages.map(({ bytes }) => bytes)}`);
	assert.equal((await peer.call("c", VOLUME, { volume: 3 })).result.content[0].text, "true");
	const large = await peer.call("large", VOLUME, { volume: 99 });
	assert.match(large.result.content[0].text, /too large for this endpoint/);
}

const deviceOptions = {
	tools: TOOLS,
	onCall: ({ arguments: { volume } }: { arguments: Record<string, unknown> }) => ({
		content: [{ type: "text", text: volume === 99 ? "x".repeat(9_000) : "true" }],
		isError: false,
	}),
};

async function startServed(t: TestContext, settings: Parameters<typeof startProgram>[1] = {}) {
	const started = await startProgram(t, settings);
	await WireDevice.connect(t, started, deviceOptions);
	return started;
}

describe("MCP endpoints of a gateway", () => {
	it("are served by the gateway itself, if its settings name them", async (t) => {
		const [one, other] = [await EndpointPeer.listen(t), await EndpointPeer.listen(t)];
		const { gateway, log } = await startServed(t, { endpoints: [one.url, other.url] });
		await Promise.all([checkServed(one), checkServed(other)]);
		await gateway.close();
		assert.match(log(), /endpoint 127\.0\.0\.1:[0-9]+\/mcp\/: connected/);
		assert.doesNotMatch(log(), /t-secret/);
	});

	it("are served by a command beside a gateway that is running", async (t) => {
		const [one, other] = [await EndpointPeer.listen(t), await EndpointPeer.listen(t)];
		const { base } = await startServed(t);
		const { output, child, exited } = start(t, ["endpoint", one.url, other.url], { XS_MCP_GATEWAY_URL: base });
		await Promise.all([checkServed(one), checkServed(other)]);
		assert.doesNotMatch(output.stderr, /t-secret/);
		child.kill("SIGTERM");
		assert.equal(await exited, 0);
	});

	it("come from a variable, too, and can be for one device", async (t) => {
		const peer = await EndpointPeer.listen(t);
		const { base } = await startServed(t);
		start(t, ["endpoint", "--device", "lamp_000001"], { XS_MCP_GATEWAY_URL: base, XS_MCP_GATEWAY_ENDPOINTS: peer.url });
		await peer.connected();
		await peer.initialize();
		assert.equal((await peer.listTools()).names[0], "self_audio_speaker_set_volume");
	});

	it("are connected once the gateway answers, because agents keep the first list", async (t) => {
		const peer = await EndpointPeer.listen(t);
		const first = await startProgram(t);
		const port = Number(new URL(first.base).port);
		await first.gateway.close();
		const { output } = start(t, ["endpoint", peer.url], { XS_MCP_GATEWAY_URL: first.base });
		await until(() => output.stderr.includes("Retrying"), "the command waits for a gateway");
		assert.equal(peer.connections.length, 0);
		await startServed(t, { httpPort: port });
		await checkServed(peer);
	});

	it("must be WebSocket URLs", async (t) => {
		for (const args of [[], ["http://127.0.0.1/?token=t-secret"], ["nonsense"]]) {
			const { code, stderr } = await run(t, ["endpoint", ...args]);
			assert.equal(code, 2);
			assert.match(stderr, /expected/);
			assert.doesNotMatch(stderr, /t-secret/);
		}
	});
});

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
