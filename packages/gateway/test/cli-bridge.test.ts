import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { cases } from "../../../host-test/support/scope.js";
import { until } from "../../../host-test/support/testing.js";
import { addressesIn, FREE_PORTS, run, start, startClient } from "../testing/command-line.js";
import { ERAS, LAMP, toolNames, VOLUME, WireDevice } from "../testing/gateway.js";
import { makeStateFolder, startProgram, startProgramWithDevice } from "../testing/program.js";

describe("xs-mcp-gateway over stdio", () => {
	for (const [era, options] of cases(Object.entries(ERAS))) {
		it(`with --stdio: serves the client of ${era} that started it, tells it of devices, and ends with it`, async (t) => {
			const args = [...FREE_PORTS, "--stdio", "--state-folder", makeStateFolder()];
			const { client, log } = await startClient(t, args, {}, options);
			assert.equal(client.getNegotiatedProtocolVersion(), era);
			const told = new Promise<void>((resolve) => {
				client.setNotificationHandler("notifications/tools/list_changed", () => resolve());
			});
			if (era === "2026-07-28") {
				await client.listen({ toolsListChanged: true });
			}
			assert.deepEqual(await toolNames(client), []);
			await until(() => log().includes('"listening"'), "it listens");
			await WireDevice.connectTo(t, addressesIn(log()).deviceUrl, { id: LAMP });
			await told;
			assert.deepEqual(await toolNames(client), [VOLUME]);
			const { content } = await client.callTool({ name: VOLUME, arguments: { volume: 1 } });
			assert.deepEqual(content, [{ type: "text", text: "true" }]);
			await client.close();
			await until(() => log().includes("stopping: the client disconnected"), "it ends");
		});
	}

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
			assert.deepEqual(await toolNames(client), [VOLUME]);
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

	it("as a bridge: answers what came before its standard input ended, then ends its session", async (t) => {
		const { started } = await startProgramWithDevice(t, { id: LAMP });
		const { child, output, exited } = start(t, ["stdio"], { XS_MCP_GATEWAY_URL: started.base });
		const clientInfo = { name: "a pipe", version: "1" };
		const messages = [
			{ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } },
			{ method: "notifications/initialized" },
			{ id: 1, method: "tools/call", params: { name: VOLUME, arguments: { volume: 1 } } },
		];
		child.stdin?.end(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""));
		assert.equal(await exited, 0, output.stderr);
		const answers = output.stdout.trim().split("\n");
		const called = answers.map((line) => JSON.parse(line)).find(({ id }) => id === 1);
		assert.deepEqual(called?.result.content, [{ type: "text", text: "true" }]);
		const metrics = await (await fetch(`${started.base}/metrics`)).text();
		assert.match(metrics, /^xs_mcp_gateway_sessions 0$/m);
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

	it("as a bridge: tells the host that the URL is wrong", async (t) => {
		const environment = { XS_MCP_GATEWAY_URL: "127.0.0.1:8766" };
		await assert.rejects(startClient(t, ["stdio"], environment), /expected a URL .*127\.0\.0\.1:8766/);
	});
});
