// An MCP server over stdio for the tests of the extension: long results, and a question during a call.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const answer = (id, text, more) => send({ id, result: { content: [{ type: "text", text }], ...more } });
const object = (properties) => ({ type: "object", properties });
const tools = [
	{
		name: "lines",
		description: "Gives lines of a length",
		inputSchema: object({ count: { type: "number" }, length: { type: "number" }, fail: { type: "boolean" } }),
		annotations: { readOnlyHint: true },
	},
	{ name: "greet", description: "Asks for a name, and greets", inputSchema: object({}) },
];
const questions = new Map();
let asked = 0;

function ask(params, onAnswer) {
	asked += 1;
	questions.set(`question-${asked}`, onAnswer);
	send({ id: `question-${asked}`, method: "elicitation/create", params });
}

createInterface({ input: process.stdin }).on("line", (line) => {
	const { id, method, params, result, error } = JSON.parse(line);
	if (method === undefined) {
		questions.get(id)?.(result ?? error);
	} else if (method === "initialize") {
		const { protocolVersion } = params;
		send({
			id,
			result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "talking", version: "1.0.0" } },
		});
	} else if (method === "tools/list") {
		send({ id, result: { tools } });
	} else if (method === "tools/call" && params.name === "lines") {
		const { count, length, fail } = params.arguments;
		const text = Array.from({ length: count }, (_, at) => `${at + 1} `.padEnd(length, "é")).join("\n");
		answer(id, text, { isError: fail === true });
	} else if (method === "tools/call") {
		const requestedSchema = {
			type: "object",
			properties: {
				name: { type: "string", title: "Your name" },
				size: { type: "string", enum: ["small", "large"] },
				times: { type: "integer", minimum: 1 },
			},
			required: ["name", "size", "times"],
		};
		ask({ message: "Who is there?", requestedSchema }, (given) => answer(id, `Hello: ${JSON.stringify(given)}`));
	} else if (id !== undefined) {
		send({ id, result: {} });
	}
});
