import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { Program } from "../../host-test/support/program.js";
import { temporaryFolder, until } from "../../host-test/support/testing.js";
import { connectOverHttp } from "../clients.js";
import { gatewayArgs, type RunningGateway, startGateway, untilKnown } from "../gateway-process.js";
import { startDevice } from "./device.js";
import { connectAgent, openMcpEndpoint, startMcpEndpointServer } from "./mcp-endpoint.js";
import { findPeer } from "./peers.js";
import { startPython } from "./python.js";
import { Relay } from "./relay.js";
import { ScriptedModel } from "./scripted-model.js";
import { startXiaozhiServer } from "./xiaozhi-server.js";

const pipe = findPeer("MCP_CALCULATOR");
const endpointServer = findPeer("MCP_ENDPOINT_SERVER");
const xiaozhiServer = findPeer("XIAOZHI_SERVER");

async function startGatewayWithDevice(t: TestContext): Promise<RunningGateway> {
	const gateway = await startGateway(temporaryFolder());
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
	assert.deepEqual(result.content, [{ type: "text", text: '{"volume":44}' }]);
	t.diagnostic(`${tools.length} tools`);
}

async function startEndpoint(t: TestContext, gateway: RunningGateway, endpointUrl: string): Promise<void> {
	const args = gatewayArgs("endpoint", endpointUrl, "--url", gateway.base);
	const program = await Program.start(args, (output) => output.includes(": connected"));
	t.after(() => program.stop());
}

async function startPipe(t: TestContext, gateway: RunningGateway, endpointUrl: string): Promise<void> {
	const work = temporaryFolder();
	const server = { type: "stdio", command: process.execPath, args: gatewayArgs("stdio", "--url", gateway.base) };
	writeFileSync(join(work, "mcp_config.json"), JSON.stringify({ mcpServers: { devices: server } }));
	const args = [join(pipe.folder ?? "", "mcp_pipe.py")];
	await startPython(t, args, (output) => output.includes("Started server process"), {
		cwd: work,
		env: { MCP_ENDPOINT: endpointUrl },
	});
}

describe(pipe.title, { skip: pipe.skip }, () => {
	it("mcp_pipe.py, with `xs-mcp-gateway stdio` as its server: tools listed, one called", async (t) => {
		const gateway = await startGatewayWithDevice(t);
		const endpoint = await openMcpEndpoint(t);
		const client = endpoint.next();
		await startPipe(t, gateway, endpoint.url);
		await callThrough(t, await client);
	});
});

describe(endpointServer.title, { skip: endpointServer.skip }, () => {
	it("mcp_pipe.py and `xs-mcp-gateway stdio` on one side, two agents on the other, one after the other: tools listed, one called", {
		skip: pipe.skip,
	}, async (t) => {
		const gateway = await startGatewayWithDevice(t);
		const { toolUrl, agentUrl } = await startMcpEndpointServer(t, endpointServer.folder ?? "");
		await startPipe(t, gateway, toolUrl);
		await callThrough(t, await connectAgent(t, agentUrl));
		await callThrough(t, await connectAgent(t, agentUrl));
	});

	it("`xs-mcp-gateway endpoint` on one side, two agents on the other, one after the other: tools listed, one called", async (t) => {
		const gateway = await startGatewayWithDevice(t);
		const { toolUrl, agentUrl } = await startMcpEndpointServer(t, endpointServer.folder ?? "");
		await startEndpoint(t, gateway, toolUrl);
		await callThrough(t, await connectAgent(t, agentUrl));
		await callThrough(t, await connectAgent(t, agentUrl));
	});

	it("`xs-mcp-gateway endpoint` on one side, xiaozhi-esp32-server on the other: its language model calls a tool", {
		skip: xiaozhiServer.skip,
	}, async (t) => {
		const gateway = await startGatewayWithDevice(t);
		const client = await connectOverHttp(`${gateway.base}/mcp`, "2025-11-25");
		t.after(() => client.close());
		const name = (await client.listTools()).tools.find((tool) => tool.name.includes("set_volume"))?.name ?? "";
		const { toolUrl } = await startMcpEndpointServer(t, endpointServer.folder ?? "");
		await startEndpoint(t, gateway, toolUrl);
		const model = await ScriptedModel.listen(t, { name, arguments: { volume: 46 } });
		const server = await startXiaozhiServer(t, xiaozhiServer.folder ?? "", {
			modelUrl: model.url,
			more: { mcp_endpoint: toolUrl },
		});
		const relay = await Relay.listen(t, server.url);
		await startDevice(t, { backend: relay.url });
		// It ignores what is said before it has the device's tools, too.
		for (const line of ["MCP接入点支持的工具数量", "客户端设备支持的工具数量"]) {
			await until(() => server.program.output.includes(line), "the server has the tools");
		}
		relay.sayAsDevice({ type: "listen", state: "detect", text: "volume 46, please" });
		await until(() => model.results.length > 0, "the model has the tool's result");
		assert.deepEqual(model.results, ['{"volume":46}']);
	});
});
