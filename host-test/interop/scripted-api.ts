import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { listen } from "../support/listen.js";

/** A tool as a request to a model names it: OpenAI's API has namespaces. */
interface NamedTool {
	readonly name: string;
	readonly namespace?: string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: requests to models; only a few fields are read.
type Json = any;

/** A language model with the APIs of OpenAI (Responses) and Gemini: calls the tool whose name ends so once, and then is done. */
export class ScriptedApi {
	/** Results of calls from the host, as JSON. */
	readonly results: string[] = [];
	url = "";
	readonly #ending: string;
	readonly #args: object;

	private constructor(ending: string, args: object) {
		this.#ending = ending;
		this.#args = args;
	}

	static async listen(test: TestContext, ending: string, args: object): Promise<ScriptedApi> {
		const api = new ScriptedApi(ending, args);
		const server = createServer((request, response) => void api.#answer(request, response));
		api.url = `http://127.0.0.1:${await listen(test, server)}`;
		return api;
	}

	async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const bytes = await buffer(request);
		const body = bytes.length === 0 ? {} : JSON.parse(bytes.toString());
		if (request.url?.includes("treamGenerateContent")) {
			sendEvents(response, [this.#geminiAnswer(body)]);
		} else if (request.url?.endsWith("/responses")) {
			sendEvents(response, this.#openAiAnswer(body));
		} else {
			response.writeHead(404).end("{}");
		}
	}

	#geminiAnswer({ tools = [], contents }: Json): Json {
		const results = contents.flatMap(({ parts }: Json) => parts.filter((part: Json) => part.functionResponse));
		const names = tools.flatMap(({ functionDeclarations = [] }: Json) => functionDeclarations) as NamedTool[];
		const tool = this.#next(names, results);
		const part = tool ? { functionCall: { name: tool.name, args: this.#args } } : { text: "done" };
		return { candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }] };
	}

	#openAiAnswer({ tools = [], input }: Json): Json[] {
		const results = input.filter(({ type }: Json) => type === "function_call_output");
		const names = tools.flatMap(({ name: namespace, tools: inner, ...tool }: Json) =>
			inner ? inner.map(({ name }: Json) => ({ name, namespace })) : [{ ...tool, name: namespace }],
		) as NamedTool[];
		const tool = this.#next(names, results);
		const content = [{ type: "output_text", text: "done" }];
		const item = tool
			? { type: "function_call", call_id: "call", ...tool, arguments: JSON.stringify(this.#args) }
			: { type: "message", role: "assistant", content };
		const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
		return [
			{ type: "response.created", response: { id: "response" } },
			{ type: "response.output_item.done", output_index: 0, item: { id: "item", ...item } },
			{ type: "response.completed", response: { id: "response", usage } },
		];
	}

	/** The tool to be called: until a result is there. */
	#next(tools: readonly NamedTool[], results: readonly unknown[]): NamedTool | undefined {
		this.results.push(...results.map((result) => JSON.stringify(result)));
		const found = tools.find(({ name }) => name?.endsWith(this.#ending));
		return results.length > 0 || found === undefined ? undefined : { name: found.name, namespace: found.namespace };
	}
}

function sendEvents(response: ServerResponse, events: readonly Json[]): void {
	response.writeHead(200, { "Content-Type": "text/event-stream" });
	for (const event of events) {
		response.write(`${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
	}
	response.end();
}
