import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { testWith, until } from "../../../host-test/support/testing.js";
import { openClient } from "../src/mcp/client.js";
import type { Channel } from "../src/mcp/client-request.js";
import { connectEndpoint } from "../src/transports/endpoint.js";
import { EndpointPeer } from "../testing/endpoint.js";
import {
	LOCAL,
	REBOOT,
	SET_VOLUME,
	startGateway,
	startWithDevice,
	VOLUME,
	type WireDeviceOptions,
} from "../testing/gateway.js";

async function start(
	t: TestContext,
	{ catalog = "auto", ...options }: WireDeviceOptions & { catalog?: "auto" | "full" } = {},
) {
	const { side: started, device } = await startWithDevice(t, { catalog }, options);
	const peer = await EndpointPeer.listen(t);
	const log: string[] = [];
	const { gateway } = started;
	const open = (channel: Channel) => openClient(gateway, gateway.catalog(LOCAL), channel);
	t.after(connectEndpoint(peer.url, open, (text) => log.push(text), 20));
	await peer.connected();
	return { peer, device, log, initialized: await peer.initialize() };
}

const itStarted = testWith(start);

const content = (...blocks: object[]) => ({ content: blocks, isError: false });

describe("an MCP endpoint", () => {
	itStarted("gets the tools, and calls them", async ({ peer, device, initialized }) => {
		assert.equal(initialized.result.protocolVersion, "2024-11-05");
		assert.deepEqual((await peer.listTools()).names, [VOLUME]);
		const { result } = await peer.call("c-1", VOLUME, { volume: 30 });
		assert.deepEqual([result.content[0].text, device.calls[0]?.arguments], ["true", { volume: 30 }]);
		assert.deepEqual((await peer.ask(7, "ping")).result, {});
		assert.equal(peer.connections[0], "/mcp/?token=t-secret");
	});

	it("gets a long list in pages that fit, each tool once", async (t) => {
		const tools = Array.from({ length: 200 }, (_, index) => ({
			...SET_VOLUME,
			name: `tool_${index}`,
			description: "ü".repeat(300),
		}));
		const { peer } = await start(t, { tools, catalog: "full" });
		const { names, pages } = await peer.listTools();
		assert.deepEqual(
			names,
			tools.map(({ name }) => `lamp_000001__${name}`),
		);
		assert.ok(pages.length > 10);
		assert.ok(
			pages.every(({ bytes }) => bytes <= 8_000),
			`${pages.map(({ bytes }) => bytes)}`,
		);
	});

	it("is not told of a tool that is larger than a page", async (t) => {
		const huge = { ...SET_VOLUME, name: "huge", description: "x".repeat(9_000) };
		const { peer } = await start(t, { tools: [REBOOT, huge, SET_VOLUME] });
		assert.deepEqual((await peer.listTools()).names, [VOLUME]);
	});

	it("gets a clear error in place of a result that is too large", async (t) => {
		const { peer } = await start(t, { onCall: () => content({ type: "text", text: "x".repeat(10_000) }) });
		const { result, bytes } = await peer.call("c-1", VOLUME, { volume: 30 });
		assert.equal(result.isError, true);
		assert.match(result.content[0].text, /its result of 100\d\d bytes is too large .* at most 8000/);
		assert.equal(result.error, result.content[0].text, "where backends of the family look for it");
		assert.ok(bytes < 1_000);
	});

	it("gets a result without its picture if the picture is too large", async (t) => {
		const image = { type: "image", mimeType: "image/jpeg", data: "A".repeat(10_000) };
		const { peer } = await start(t, { onCall: () => content({ type: "text", text: "a window" }, image) });
		const { result } = await peer.call("c-1", VOLUME, { volume: 30 });
		assert.deepEqual([result.isError, result.content[0].text], [false, "a window"]);
		assert.match(result.content[1].text, /image\/jpeg: omitted/);
	});

	itStarted("is told when the tools have changed", async ({ peer, device }) => {
		await peer.listTools();
		device.changeTools([SET_VOLUME, { ...SET_VOLUME, name: "other" }]);
		await peer.notified("notifications/tools/list_changed");
	});

	itStarted("is connected again after it has disconnected, and begins anew", async ({ peer, log }) => {
		for (const count of [2, 3]) {
			peer.disconnect();
			await peer.connected(count);
			peer.received.length = 0;
			await peer.initialize();
			assert.deepEqual((await peer.listTools()).names, [VOLUME]);
		}
		assert.match(log.join("\n"), /disconnected \(1000, replaced\)/);
		assert.doesNotMatch(log.join("\n"), /t-secret/);
	});

	it("may be a relay of agents that each begin anew, use an id again and do not wait for an answer", async (t) => {
		const { peer, device } = await start(t);
		for (const agent of ["0a1b", "4e5f"]) {
			const initialized = peer.ask(`${agent}_1`, "initialize", { protocolVersion: "2024-11-05", capabilities: {} });
			peer.say({ jsonrpc: "2.0", method: "notifications/initialized", params: {} });
			const { result } = await peer.ask(`${agent}_2`, "tools/list");
			assert.deepEqual([(await initialized).result.protocolVersion, result.tools[0].name], ["2024-11-05", VOLUME]);
			peer.received.length = 0;
			assert.equal((await peer.call(`${agent}_1`, VOLUME, { volume: 46 })).result.content[0].text, "true");
		}
		assert.equal(device.calls.length, 2);
	});

	itStarted("survives messages that are not JSON-RPC", async ({ peer }) => {
		for (const message of ["", "no JSON", "[]", "null", '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0","id":{},"method":1}']) {
			peer.say(message);
		}
		assert.deepEqual((await peer.listTools()).names, [VOLUME]);
		assert.equal(peer.connections.length, 1);
	});

	it("gets an error for a request whose id is in use, so that its limit holds", async (t) => {
		const { peer, device } = await start(t, { onCall: () => undefined });
		const request = { jsonrpc: "2.0", id: "same", method: "tools/call" };
		for (const volume of [1, 2]) {
			peer.say({ ...request, params: { name: VOLUME, arguments: { volume } } });
		}
		assert.match((await peer.answer("same")).error?.message ?? "", /the id "same" is already in use/);
		await until(() => device.calls.length > 0, "the first call");
		await peer.ask("later", "ping");
		const found = device.calls.map(({ arguments: args }) => args);
		assert.deepEqual(found, [{ volume: 1 }]);
	});

	it("gets an error if it asks too much at the same time", async (t) => {
		const { peer, device } = await start(t, { onCall: () => undefined });
		for (let id = 0; id < 65; id += 1) {
			peer.say({ jsonrpc: "2.0", id, method: "tools/call", params: { name: VOLUME, arguments: { volume: 1 } } });
		}
		assert.match((await peer.answer(64)).error?.message ?? "", /limit 64/);
		for (const { id } of device.calls) {
			device.answer(id, content());
		}
		assert.deepEqual((await peer.answer(0)).result.content, []);
	});

	it("may ask again after it has cancelled many requests", async (t) => {
		const { peer, device } = await start(t, {
			onCall: ({ arguments: { volume } }) => (volume === 2 ? content() : undefined),
		});
		for (let id = 0; id < 70; id += 1) {
			peer.say({ jsonrpc: "2.0", id, method: "tools/call", params: { name: VOLUME, arguments: { volume: 1 } } });
			const params = { requestId: id, reason: { toString: 1 } };
			peer.say({ jsonrpc: "2.0", method: "notifications/cancelled", params });
		}
		assert.deepEqual((await peer.call("last", VOLUME, { volume: 2 })).result.content, []);
		assert.equal(device.calls.at(-1)?.arguments.volume, 2);
	});

	it("is tried again and again until it is there", async (t) => {
		const { gateway } = await startGateway(t);
		const first = await EndpointPeer.listen(t);
		const { url } = first;
		first.close();
		const log: string[] = [];
		const open = (channel: Channel) => openClient(gateway, gateway.catalog(LOCAL), channel);
		t.after(connectEndpoint(url, open, (text) => log.push(text), 5));
		await until(() => log.filter((line) => line.includes("ECONNREFUSED")).length > 2, "it has tried three times");
		const peer = await EndpointPeer.listen(t, Number(new URL(url).port));
		await peer.connected();
		assert.equal((await peer.initialize()).result.serverInfo.name, "xs-mcp-gateway");
	});

	it("is disconnected if it shows no sign of life", async (t) => {
		const { gateway } = await startGateway(t);
		const peer = await EndpointPeer.listen(t);
		const open = (channel: Channel) => openClient(gateway, gateway.catalog(LOCAL), channel);
		t.after(connectEndpoint(peer.url, open, () => {}, 20, 50));
		await peer.connected();
		peer.stopReading();
		await peer.connected(2);
	});
});
