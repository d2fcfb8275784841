import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as z from "zod";
import { freePort, testWith, until } from "../../../host-test/support/testing.js";
import { start, startClient, startListening, startWire } from "../testing/command-line.js";
import { ERAS, LAMP, SET_VOLUME, VOLUME, type WireCall, WireDevice } from "../testing/gateway.js";
import { makeStateFolder, startProgram, startProgramWithDevice } from "../testing/program.js";

const itProgram = testWith(startProgram);

describe("xs-mcp-gateway over stdio, with faults and between revisions", () => {
	it("as a bridge: passes resources and their updates, in either era, also after a restart of the gateway", async (t) => {
		const { started: first, device } = await startProgramWithDevice(t, { id: LAMP });
		const uri = "device://lamp_000001/state";
		const environment = { XS_MCP_GATEWAY_URL: first.base };
		const hosts = [
			await startClient(t, ["stdio"], environment),
			await startClient(t, ["stdio"], environment, ERAS["2026-07-28"]),
		].map(({ client }) => ({ client, updates: [] as unknown[] }));
		for (const { client, updates } of hosts) {
			client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
				updates.push(params);
			});
			const uris = (await client.listResources()).resources.map((resource) => resource.uri);
			assert.deepEqual(uris, [uri]);
			assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 1);
			const { contents } = await client.readResource({ uri });
			assert.equal(JSON.parse((contents[0] as { text: string }).text).online, true);
			await assert.rejects(client.readResource({ uri: "device://nobody/state" }), { code: -32_602 });
		}
		const [session, stateless] = hosts.map(({ client }) => client);
		await session?.subscribeResource({ uri });
		await assert.rejects(async () => await session?.subscribeResource({ uri: "device://nobody/state" }), {
			code: -32_602,
		});
		await stateless?.listen({ resourceSubscriptions: [uri] });
		await until(() => {
			device.notify("notifications/state_changed", { oldState: "idle", newState: "speaking" });
			return hosts.every(({ updates }) => updates.length > 0);
		}, "both are told");
		assert.deepEqual(hosts[0]?.updates[0], { uri });
		await first.gateway.close();
		await Promise.all(hosts.map(({ updates }) => updates.splice(0)));
		await startProgram(t, { httpPort: Number(new URL(first.base).port) }, first.stateFolder);
		await until(() => hosts.every(({ updates }) => updates.length > 0), "both are told again");
		await session?.unsubscribeResource({ uri });
	});

	itProgram("as a bridge: answers in the client's revision, whatever the gateway's", async (started, t) => {
		const properties = { region: { type: "string", "x-mcp-header": "Region" } };
		const link = { type: "resource_link", uri: "https://lamp.example/log", name: "log" };
		await WireDevice.connect(t, started, {
			id: LAMP,
			tools: [{ name: "show", inputSchema: { type: "object", properties } }],
			onCall: () => ({ content: [link], structuredContent: { level: 1 } }),
		});
		const { ask: askBridge } = startWire(t, ["stdio"], { XS_MCP_GATEWAY_URL: started.base });
		const clientInfo = { name: "by-hand", version: "1" };
		await askBridge("initialize", { protocolVersion: "2025-03-26", capabilities: {}, clientInfo });
		const { tools, ...tooMuch } = await askBridge("tools/list", {});
		assert.deepEqual([(tools as unknown[]).length, tooMuch], [1, {}]);
		for (const [method, member] of [
			["resources/list", "resources"],
			["resources/templates/list", "resourceTemplates"],
			["resources/read", "contents"],
		] as const) {
			assert.deepEqual(Object.keys(await askBridge(method, { uri: "device://lamp_000001/state" })), [member]);
		}
		const call = { name: "lamp_000001__show", arguments: { region: "north" } };
		const text = "log\nhttps://lamp.example/log";
		assert.deepEqual(await askBridge("tools/call", call), { content: [{ type: "text", text }] });
	});

	itProgram("as a bridge: sends the headers that a tool of 2026-07-28 asks for", async (started, t) => {
		const properties = {
			region: { type: "string", "x-mcp-header": "Region" },
			lamp: { type: "object", properties: { number: { type: "integer", "x-mcp-header": "Number" } } },
		};
		await WireDevice.connect(t, started, {
			id: LAMP,
			tools: [{ name: "show", inputSchema: { type: "object", properties } }],
			onCall: (call) => ({ content: [{ type: "text", text: JSON.stringify(call.arguments) }] }),
		});
		const { client } = await startClient(t, ["stdio"], { XS_MCP_GATEWAY_URL: started.base }, ERAS["2026-07-28"]);
		await client.listTools();
		for (const args of [{ region: "north" }, { region: " 日本", lamp: { number: 7 } }, { region: "" }]) {
			const { content } = await client.callTool({ name: "lamp_000001__show", arguments: args });
			assert.deepEqual(content, [{ type: "text", text: JSON.stringify(args) }]);
		}
	});

	itProgram("as a bridge: sends the header that names a task", async (started, t) => {
		const { client } = await startClient(t, ["stdio"], { XS_MCP_GATEWAY_URL: started.base }, ERAS["2026-07-28"]);
		const asked = client.request({ method: "tasks/get", params: { taskId: "t" } }, z.unknown());
		await assert.rejects(asked, { code: -32_021, message: /needs a client that declares the extension/ });
	});

	it("as a bridge: waits for a gateway that starts later", async (t) => {
		const port = await freePort();
		const { client, log } = await startClient(t, ["stdio"], { XS_MCP_GATEWAY_URL: `http://127.0.0.1:${port}` });
		assert.deepEqual((await client.listTools()).tools, []);
		const early = await client.callTool({ name: "any", arguments: {} });
		assert.match(
			JSON.stringify(early),
			/"isError":true.*No gateway is running yet|No gateway is running yet.*"isError":true/,
		);
		assert.match(log(), /cannot reach a gateway at .*Retrying/);
		let changes = 0;
		client.setNotificationHandler("notifications/tools/list_changed", () => {
			changes += 1;
		});
		const started = await startProgram(t, { httpPort: port });
		await until(() => changes > 0, "it is told of the gateway");
		await WireDevice.connect(t, started, { id: LAMP });
		await until(() => changes > 1, "it is told of the device");
		const result = await client.callTool({ name: VOLUME, arguments: { volume: 1 } });
		assert.deepEqual(result.content, [{ type: "text", text: "true" }]);
	});

	itProgram("a bridge does not repeat a call whose session has ended meanwhile", async (started, t) => {
		const secret = await started.tokens.add({ name: "laptop", kind: "client" });
		await started.tokens.add({ name: "other", kind: "client" });
		const device = await WireDevice.connect(t, started, { id: LAMP, onCall: () => undefined });
		const environment = { XS_MCP_GATEWAY_URL: started.base, XS_MCP_GATEWAY_TOKEN: secret };
		const { client } = await startClient(t, ["stdio"], environment);
		const called = client.callTool({ name: VOLUME, arguments: { volume: 1 } });
		await until(() => device.calls.length === 1, "the call is under way");
		await started.tokens.remove("laptop");
		const { content, isError } = await called;
		assert.equal(isError, true);
		assert.match(JSON.stringify(content), /may have been carried out/);
		assert.equal(device.calls.length, 1);
	});

	it("a call by command or bridge fails at once if the gateway is killed, even if it starts again", async (t) => {
		const port = await freePort();
		const url = `http://127.0.0.1:${port}`;
		const websocketPort = await freePort();
		const args = ["--http-port", String(port), "--websocket-port", String(websocketPort)];
		const environment = { XS_MCP_GATEWAY_STATE_FOLDER: makeStateFolder(), XS_MCP_GATEWAY_URL: url };
		const first = await startListening(t, args, environment);
		// Progress, but no answer: the gateway's answer is a stream that has begun.
		const onCall = ({ progressToken }: WireCall, from: WireDevice): undefined =>
			void from.notify("notifications/progress", { progressToken, progress: 1 });
		const device = await WireDevice.connectTo(t, `ws://127.0.0.1:${websocketPort}/`, { id: LAMP, onCall });
		const { client } = await startClient(t, ["stdio"], environment);
		await until(async () => (await client.listTools()).tools.length > 0, "the device is known");
		const params = { name: VOLUME, arguments: { volume: 1 } };
		let told = false;
		const bridged = client.callTool(params, {
			onprogress() {
				told = true;
			},
		});
		const command = start(t, ["call", LAMP, SET_VOLUME.name, "volume=1"], environment);
		await until(() => told && command.output.stderr.includes("progress 1"), "both calls are under way");
		assert.equal(device.calls.length, 2);
		first.child.kill("SIGKILL");
		await first.exited;
		await startListening(t, args, environment);
		assert.match(JSON.stringify(await bridged), /The gateway did not answer: .*lost/);
		assert.equal(await command.exited, 1);
		assert.match(command.output.stderr, /lost the connection to the gateway/);
	});
});
