import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { MANAGEMENT_TOOLS, McpManager } from "xs-mcp-manager";
import { nextOnline } from "../../gateway/test/support/gateway.js";
import { EVERYTHING, nodeServer, textOf } from "../../mcp-manager/test/support/upstreams.js";
import { cases } from "../support/scope.js";
import { ENGINES, type GatewaySide, startDevice, TRANSPORTS } from "./fixtures.js";

const listen = TRANSPORTS.websocket as (t: TestContext) => Promise<GatewaySide>;

for (const engine of cases(ENGINES)) {
	describe(`the management tools with a virtual device on ${engine.kind} and server-everything`, () => {
		it("list both, call both, and read resources of both", async (t) => {
			const { gateway, config } = await listen(t);
			const manager = new McpManager({ registry: gateway.servers, servers: [nodeServer("everything", EVERYTHING)] });
			await manager.initialize();
			t.after(() => manager.close());
			const online = nextOnline(gateway.servers);
			await startDevice(t, engine, { config });
			const { alias } = await online;
			const caller = { principal: "test", approve: async () => true, notify: () => {} };
			const run = async (name: string, args: object = {}): Promise<string> => {
				const result = await MANAGEMENT_TOOLS.find((tool) => tool.name === name)?.run(manager, args, caller);
				assert.ok(result && !result.isError, name);
				return textOf(result);
			};
			const connections = await run("mcp_list_connections");
			assert.match(connections, /^Active MCP Connections \(2\):\n/);
			assert.match(connections, /^- everything: .+ \[connected\] \(\d+ tools\) - mcp-servers\/everything\/[0-9.]+$/m);
			assert.match(connections, new RegExp(`^- ${alias}: websocket \\[connected\\] \\(\\d+ tools\\) - virtual/`, "m"));
			assert.match(await run("mcp_list_tools", { id: alias }), /^ {2}- self\.get_device_status: /m);
			const call = { connection_id: alias, tool_name: "self.audio_speaker.set_volume", arguments: { volume: 30 } };
			assert.equal(await run("mcp_call_tool", call), "true");
			assert.match(await run("mcp_list_resources", { id: alias }), /^ {2}- device:\/\/self\/state: /m);
			const state = await run("mcp_read_resource", { connection_id: alias, uri: "device://self/state" });
			assert.equal(JSON.parse(state).board, "virtual");
		});
	});
}
