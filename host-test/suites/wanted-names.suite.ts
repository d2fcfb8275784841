import { elicit } from "../../src/mcp_server/features/elicit.js";
import { FeatureServer } from "../../src/mcp_server/features/feature-server.js";
import { Stateless } from "../../src/mcp_server/features/stateless.js";
import { McpServer } from "../../src/mcp_server/mcp-server.js";
import { integer, object, optional, type Schema, string } from "../../src/mcp_server/schema.js";
import { createTool } from "../../src/mcp_server/tool.js";
import { decodeEnvelope, ENVELOPE_NAMES } from "../../src/protocols/envelope.js";
import { ALL, CAPABILITIES, LOG_LEVEL, meta } from "../doubles/client.js";
import { FakeTimer } from "../doubles/fake-timer.js";
import { equal, settled, suite } from "../harness.js";

const tool = createTool({
	name: "t",
	description: "",
	input: { outer: object({ inner: string() }) },
	run: () => true,
});

const OPTIONS = { name: "s", version: "1", context: {}, names: ENVELOPE_NAMES };

const read = (payload: object): unknown => readBy(new McpServer<object>({ ...OPTIONS, tools: [tool] }), payload);

function readBy(server: McpServer<object>, payload: object): unknown {
	return decodeEnvelope(JSON.stringify({ type: "mcp", payload }), undefined, server).payload;
}

const request = (method: string, params: object): object => ({ jsonrpc: "2.0", id: 1, method, params });

export default suite("names of members that are wanted", {
	"those of each message reach the server, with all of a call's arguments"() {
		const capabilities = { vision: { url: "http://v/", token: "t" }, roots: {}, sampling: {}, elicitation: {} };
		const clientInfo = { name: "c", version: "1" };
		const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
		for (const message of [
			request("tools/call", { name: "t", arguments: { outer: { inner: "x" } }, _meta: { progressToken: 1 } }),
			request("tools/list", { cursor: "t", withUserTools: true }),
			request("ping", {}),
			request("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo }),
			cancelled,
			[cancelled],
			{ jsonrpc: "2.0", id: 1, result: {} },
			{ jsonrpc: "2.0", id: 1, error: {} },
		]) {
			equal(read(message), message);
		}
	},
	async "those of a stateless call, and of the answers to its questions, reach the server"() {
		const inputClient = createTool<object, Record<never, never>, Record<never, never>>({
			name: "inputClient",
			description: "",
			async run(_args, _context, call) {
				const fields = { width: integer(), unit: optional(string()) };
				return (await elicit(call, { key: "k", message: "", fields })).action;
			},
		});
		const timer = new FakeTimer();
		const server = new FeatureServer<object>([new Stateless<object>()], { ...OPTIONS, tools: [inputClient], timer });
		server.open({ send() {} }).receive(request("tools/call", { name: "inputClient", _meta: meta() }));
		await settled();
		timer.pass(0);
		const params = {
			name: "inputClient",
			requestState: "1",
			inputResponses: { k: { action: "accept", content: { width: 1, unit: "m" } } },
			_meta: meta(ALL, { [LOG_LEVEL]: "info" }),
		};
		const retry = request("tools/call", params);
		equal(readBy(server, retry), retry);
	},
	"those of a tool that is added later reach a server with features, too"() {
		const server = new FeatureServer<object>([new Stateless<object>()], { ...OPTIONS, timer: new FakeTimer() });
		const isWanted = (): boolean[] => [server.commonNames.includes("inner"), server.allNames.includes("inner")];
		equal(isWanted(), [false, false]);
		server.tools.add(tool);
		equal(isWanted(), [false, true]);
	},
	"those of a tool's arguments are common from its first call on, until the tools change"() {
		const server = new McpServer<object>({ ...OPTIONS, tools: [tool] });
		const call = request("tools/call", { name: "t", arguments: { outer: { inner: "x" } } });
		equal([server.commonNames.includes("inner"), server.allNames.includes("inner")], [false, true]);
		equal([server.widerNames(call)?.includes("inner"), server.widerNames(call)], [true, undefined]);
		equal(readBy(server, call), call);
		equal(server.commonNames.includes("inner"), true);
		server.tools.remove("t");
		equal([server.commonNames.includes("inner"), server.allNames.includes("inner")], [false, false]);
	},
	"those of any tool's arguments reach a tool that takes calls, each time"() {
		const any: Schema<object> = { type: "object" };
		const taken: unknown[] = [];
		const taker = createTool({
			name: "taker",
			description: "",
			takesCalls: true,
			input: { call: any },
			run: ({ call }) => taken.push(call) > 0,
		});
		const server = new McpServer<object>({ ...OPTIONS, tools: [tool, taker] });
		const session = server.open({ send() {} });
		const call = { outer: { inner: "x" } };
		for (let time = 0; time < 2; time += 1) {
			session.receive(readBy(server, request("tools/call", { name: "taker", arguments: { call } })));
		}
		equal(taken, [call, call]);
	},
	"those of _meta are common from the first stateless request on, and a call is then parsed once"() {
		const server = new FeatureServer<object>([], { ...OPTIONS, tools: [tool] });
		const call = request("tools/call", { name: "t", arguments: { outer: { inner: "x" } }, _meta: meta({ roots: {} }) });
		equal(server.commonNames.includes(CAPABILITIES), false);
		equal(readBy(server, call), call);
		equal(server.commonNames.includes(CAPABILITIES), true);
		equal(readBy(server, call), call);
		equal(server.widerNames(call), undefined);
	},
	"the one that a feature reads in calls is wanted in calls"() {
		const feature = { capabilities: {}, names: [], callNames: ["own"], answer: () => undefined };
		const server = new FeatureServer<object>([feature], { name: "s", version: "1", context: {} });
		equal([server.commonNames.includes("own"), server.allNames.includes("own")], [true, true]);
	},
});
