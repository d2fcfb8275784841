import { McpServer } from "../../src/mcp_server/mcp-server.js";
import { object, string } from "../../src/mcp_server/schema.js";
import { createTool } from "../../src/mcp_server/tool.js";
import { decodeEnvelope, ENVELOPE_NAMES } from "../../src/protocols/envelope.js";
import { equal, suite } from "../harness.js";

const tool = createTool({
	name: "t",
	description: "",
	input: { outer: object({ inner: string() }) },
	run: () => true,
});

/** A payload after a server has read it from the wire. */
function read(payload: object): unknown {
	const server = new McpServer({ name: "s", version: "1", context: {}, names: ENVELOPE_NAMES, tools: [tool] });
	return decodeEnvelope(JSON.stringify({ type: "mcp", payload }), undefined, server.names).payload;
}

const request = (method: string, params: object): object => ({ jsonrpc: "2.0", id: 1, method, params });

export default suite("names of members that are wanted", {
	"those of a call, with all of its arguments, reach the server"() {
		const _meta = { progressToken: 1 };
		const call = request("tools/call", { name: "t", arguments: { outer: { inner: "x" } }, _meta });
		equal(read(call), call);
	},
	"those of the requests for a page of tools and for a ping reach the server"() {
		for (const message of [request("tools/list", { cursor: "t", withUserTools: true }), request("ping", {})]) {
			equal(read(message), message);
		}
	},
	"those of initialize reach the server"() {
		const capabilities = { vision: { url: "http://v/", token: "t" }, roots: {}, sampling: {}, elicitation: {} };
		const clientInfo = { name: "c", version: "1" };
		const message = request("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo });
		equal(read(message), message);
	},
	"those of other messages reach the server: notifications, responses, batches"() {
		for (const message of [
			{ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
			{ jsonrpc: "2.0", id: 1, result: {} },
			{ jsonrpc: "2.0", id: 1, error: {} },
			[{ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }],
		]) {
			equal(read(message), message);
		}
	},
});
