// An MCP server over stdio with seven tools whose other lists fail as its argument says: by method, as JSON, the code of an error,
// an object as the result, or null for silence. Lists that are not named are empty.
import { createInterface } from "node:readline";

const flaws = JSON.parse(process.argv[2] ?? "{}");
const LISTS = {
	"tools/list": {
		tools: Array.from({ length: 7 }, (_, at) => ({ name: `tool-${at + 1}`, inputSchema: { type: "object" } })),
	},
	"resources/list": { resources: [{ uri: "test://one", name: "one" }] },
	"resources/templates/list": { resourceTemplates: [] },
	"prompts/list": { prompts: [] },
};
const CAPABILITIES = { tools: {}, resources: {}, prompts: {} };
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
	const { id, method, params } = JSON.parse(line);
	const flaw = flaws[method];
	if (id === undefined || flaw === null) {
		return;
	}
	if (typeof flaw === "number") {
		send({ id, error: { code: flaw, message: `failure ${flaw}` } });
	} else if (flaw !== undefined) {
		send({ id, result: flaw });
	} else if (method === "initialize") {
		const { protocolVersion } = params;
		send({ id, result: { protocolVersion, capabilities: CAPABILITIES, serverInfo: { name: "flawed", version: "1" } } });
	} else if (method === "tools/call") {
		send({ id, result: { content: [{ type: "text", text: "done" }] } });
	} else {
		send({ id, result: LISTS[method] ?? {} });
	}
});
