import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { listen } from "../../../host-test/support/testing.js";

/** One turn of the model: a call of a tool, or a text. */
export type Turn = { readonly tool: string; readonly args: object } | { readonly text: string };

interface Request {
	readonly messages: readonly { readonly role: string; readonly content: unknown }[];
	readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export interface ScriptedModel {
	readonly baseUrl: string;
	/** Requests of pi. */
	readonly requests: Request[];
	/** The turns that come next. */
	readonly turns: Turn[];
}

export async function startModel(t: TestContext): Promise<ScriptedModel> {
	const requests: Request[] = [];
	const turns: Turn[] = [];
	const server = createServer(async (request, response) => {
		requests.push(JSON.parse(await bodyOf(request)) as Request);
		answer(response, turns.shift() ?? { text: "done" }, requests.length);
	});
	return { baseUrl: `http://127.0.0.1:${await listen(t, server)}/v1`, requests, turns };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
	return await readText(request);
}

function answer(response: ServerResponse, turn: Turn, number: number): void {
	const isCall = "tool" in turn;
	const delta = isCall
		? {
				role: "assistant",
				tool_calls: [
					{
						index: 0,
						id: `call_${number}`,
						type: "function",
						function: { name: turn.tool, arguments: JSON.stringify(turn.args) },
					},
				],
			}
		: { role: "assistant", content: turn.text };
	response.writeHead(200, { "content-type": "text/event-stream" });
	for (const choice of [
		{ index: 0, delta, finish_reason: null },
		{ index: 0, delta: {}, finish_reason: isCall ? "tool_calls" : "stop" },
	]) {
		const chunk = { id: `answer-${number}`, object: "chat.completion.chunk", created: 0, model: "scripted" };
		response.write(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`);
	}
	response.end("data: [DONE]\n\n");
}
