// A server that a test on Node can throw messages at: each is announced
// with the revision in force, then its answer is posted.

import { receive, send } from "../../packages/virtual-device/platform/bridge.js";
import { McpServer } from "../../src/mcp_server/mcp-server.js";
import { integer, string } from "../../src/mcp_server/schema.js";
import { createTool } from "../../src/mcp_server/tool.js";

const set = createTool({
	name: "set",
	description: "",
	input: { volume: integer({ minimum: 0, maximum: 100 }), note: { optional: string() } },
	run: ({ volume }) => volume,
});
const later = createTool({ name: "later", description: "", input: {}, run: async () => ({ done: true }) });
const fail = createTool({ name: "fail", description: "", input: {}, run: () => Promise.reject(new Error("no")) });

const server = new McpServer<unknown>({
	name: "generated",
	version: "0",
	context: undefined,
	tools: [set, later, fail],
});
const session = server.open({ send: (text) => send(["answer", String(text)]) });

receive("message", ([text]) => {
	send(["begin", session.revision]);
	session.receiveText(text as string);
});
