import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { until } from "../../../host-test/support/until.js";
import { clientFor } from "../../src/cli/gateway-client.js";
import { Bridge } from "../../src/cli/stdio-bridge.js";
import { FREE_PORTS, LAMP, run, startClient, VOLUME } from "../support/command-line.js";
import { WireDevice } from "../support/gateway.js";
import { makeStateFolder, startProgram } from "../support/program.js";

describe("xs-mcp-gateway over stdio", () => {
	it("with --stdio: serves the client that started it, and ends with it", async (t) => {
		const { client, log } = await startClient(t, [...FREE_PORTS, "--stdio", "--state-folder", makeStateFolder()]);
		assert.deepEqual((await client.listTools()).tools, []);
		await client.close();
		await until(() => log().includes("stopping: the client disconnected"), "it ends");
	});

	it("as a bridge: connects several clients to one gateway, with progress, and announces new devices", async (t) => {
		const started = await startProgram(t);
		const environment = { XS_MCP_GATEWAY_URL: started.base };
		const clients = await Promise.all([startClient(t, ["stdio"], environment), startClient(t, ["stdio"], environment)]);
		// A bridge also tells its client of changes when it begins to follow them: only the list says what has changed.
		const told = new Set<Client>();
		for (const { client } of clients) {
			client.setNotificationHandler("notifications/tools/list_changed", async () => {
				const { tools } = await client.listTools();
				if (tools.length > 0) {
					told.add(client);
				}
			});
		}
		// Answers once the client has been told: the SDK's client drops progress that comes together with the answer.
		let answer = (): void => {};
		await WireDevice.connect(t, started, {
			id: LAMP,
			onCall({ id, progressToken }, device) {
				answer = () => device.answer(id, { content: [{ type: "text", text: "done" }] });
				device.notify("notifications/progress", { progressToken, progress: 1, total: 2 });
				return undefined;
			},
		});
		await until(() => told.size === 2, "both clients are told of the device");
		for (const { client } of clients) {
			assert.deepEqual(
				(await client.listTools()).tools.map(({ name }) => name),
				[VOLUME],
			);
			const progress: unknown[] = [];
			const params = { name: VOLUME, arguments: { volume: 1 } };
			const result = await client.callTool(params, {
				onprogress(each) {
					progress.push(each.progress);
					answer();
				},
			});
			assert.deepEqual(result.content, [{ type: "text", text: "done" }]);
			assert.deepEqual(progress, [1]);
			await assert.rejects(client.callTool({ name: "nothing", arguments: {} }), { code: -32_602 });
		}
	});

	it("as a bridge: has the gateway's instructions", async (t) => {
		const { base } = await startProgram(t);
		const bridge = new Bridge(assert.ifError);
		bridge.client = await clientFor({ url: base }).connect();
		const client = new Client({ name: "test-client", version: "1.0.0" });
		t.after(() => Promise.all([client.close(), bridge.client?.close()]));
		const [transport, end] = InMemoryTransport.createLinkedPair();
		await Promise.all([bridge.openServer().connect(end), client.connect(transport)]);
		assert.match(client.getInstructions() ?? "", /two underscores/);
	});

	it("as a bridge: says plainly that the token is wrong", async (t) => {
		const { base, tokens } = await startProgram(t);
		await tokens.add({ name: "laptop", kind: "client" });
		const wrong = await run(t, ["stdio"], { XS_MCP_GATEWAY_URL: base, XS_MCP_GATEWAY_TOKEN: "wrong-secret" });
		assert.match(wrong.stderr, /rejected the token/);
		assert.doesNotMatch(wrong.stderr, /wrong-secret/);
		assert.equal(wrong.code, 1);
		assert.doesNotMatch(wrong.stderr, /^\s+at /m, "no stack");
		await assert.rejects(
			startClient(t, ["stdio"], { XS_MCP_GATEWAY_URL: base, XS_MCP_GATEWAY_TOKEN: "wrong-secret" }),
			(error: Error) => error.message.includes("rejected the token"),
			"the host shows the reason",
		);
	});
});
