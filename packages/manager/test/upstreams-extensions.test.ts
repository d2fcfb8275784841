import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startAskingUpstream } from "xs-mcp-gateway/testing/asking-upstream";
import { connectClient, openGateway, serveClients } from "xs-mcp-gateway/testing/gateway";
import { cases } from "../../../host-test/support/scope.js";
import { openManager } from "../testing/manager.js";
import { startStatelessUpstream } from "../testing/stateless-upstream.js";

const APPS = "io.modelcontextprotocol/ui";
const OTHER = "com.example/other";
const MIME_TYPES = { mimeTypes: ["text/html;profile=mcp-app"] };
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

describe("extensions of MCP", () => {
	for (const era of cases(["2026-07-28", "2025-11-25"] as const)) {
		it(`are told to servers and to clients of ${era}, if the gateway can pass them on: MCP Apps`, async (t) => {
			const told: unknown[] = [];
			const extensions = { [APPS]: MIME_TYPES, [OTHER]: {} };
			const upstream = await startStatelessUpstream(t, { tools: {}, extensions }, (server) => {
				server.setRequestHandler("tools/list", () => ({ tools: [{ name: "show", inputSchema: { type: "object" } }] }));
				server.setRequestHandler("tools/call", (_request, { mcpReq }) => {
					told.push((mcpReq.envelope as Record<string, { extensions?: unknown }>)[CAPABILITIES]?.extensions);
					return { content: [] };
				});
			});
			const gateway = await openGateway(t);
			const servers = [{ id: "apps", url: upstream.url }];
			const manager = await openManager(t, { registry: gateway.servers, servers });
			const side = await serveClients(t, gateway);
			const client = await connectClient(t, side.clientUrl(), era, { capabilities: { extensions } });
			const { extensions: offered } = client.getServerCapabilities() ?? {};
			assert.deepEqual([offered?.[APPS], offered?.[OTHER]], [MIME_TYPES, undefined]);
			await client.callTool({ name: "apps__show" });
			assert.deepEqual(told, [{ [APPS]: MIME_TYPES }]);
			assert.deepEqual([...gateway.servers.extended], gateway.servers.all);
			await manager.close();
			assert.equal(gateway.servers.extended.size, 0);
		});
	}

	it("are declared to a server of an older revision when its session begins", async (t) => {
		const { url, told } = await startAskingUpstream(t);
		const gateway = await openGateway(t);
		await openManager(t, { registry: gateway.servers, servers: [{ id: "old", url }] });
		assert.deepEqual((told.capabilities as { extensions?: unknown }).extensions, { [APPS]: MIME_TYPES });
	});
});
