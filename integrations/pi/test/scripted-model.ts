// A model on loopback that speaks OpenAI's chat completions, and says what a test has written down for it.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

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
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	t.after(() => {
		server.closeAllConnections();
		server.close();
	});
	return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests, turns };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) {
		chunks.push(chunk as Buffer);
	}
	return Buffer.concat(chunks).toString();
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
