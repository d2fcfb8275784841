import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { gatewayArgs, type RunningGateway, startGateway, untilKnown } from "../e2e/gateway-process.js";
import { startDevice } from "./device.js";
import { McpEndpoint } from "./mcp-endpoint.js";
import { findPeer } from "./peers.js";
import { makeFolder, startPython } from "./python.js";

/** Milliseconds for one run: a peer in Python takes a while to start. */
const TIMEOUT = 120_000;

const { title, folder = "", skip } = findPeer("MCP_CALCULATOR");

/** A gateway with one virtual device. */
async function startGatewayWithDevice(t: TestContext): Promise<RunningGateway> {
	const gateway = await startGateway(makeFolder(t));
	t.after(() => gateway.program.stop());
	await startDevice(t, { backend: gateway.deviceUrl });
	await untilKnown(gateway, 1);
	return gateway;
}

async function callThrough(t: TestContext, client: Client): Promise<void> {
	const { tools } = await client.listTools();
	const setVolume = tools.find(({ name }) => name.includes("set_volume"));
	assert.ok(setVolume, JSON.stringify(tools));
	const result = await client.callTool({ name: setVolume.name, arguments: { volume: 44 } });
	assert.deepEqual(result.content, [{ type: "text", text: "true" }]);
	t.diagnostic(`${tools.length} tools`);
}

describe(title, { skip }, () => {
	it("mcp_pipe.py, with `xs-mcp-gateway stdio` as its server: tools listed, one called", {
		timeout: TIMEOUT,
	}, async (t) => {
		const gateway = await startGatewayWithDevice(t);
		const endpoint = await McpEndpoint.listen(t);
		const work = makeFolder(t);
		const server = { type: "stdio", command: process.execPath, args: gatewayArgs("stdio", "--url", gateway.base) };
		writeFileSync(join(work, "mcp_config.json"), JSON.stringify({ mcpServers: { devices: server } }));
		const client = endpoint.next(t);
		await startPython(t, [join(folder, "mcp_pipe.py")], (output) => output.includes("Started server process"), {
			cwd: work,
			env: { MCP_ENDPOINT: endpoint.url },
		});
		await callThrough(t, await client);
	});
});
