import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { listen } from "../../host-test/support/testing.js";

/** A tool as a request to a model names it: OpenAI's API has namespaces. */
interface NamedTool {
	readonly name: string;
	readonly namespace?: string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: requests to models; only a few fields are read.
type Json = any;

export interface ScriptedStep {
	readonly ending: string;
	/** Its arguments, perhaps made of the results before, each as JSON. */
	readonly args: object | ((results: readonly string[]) => object);
}

/**
 * A language model with the APIs of Anthropic, OpenAI (Responses) and Gemini: makes one call after the other, each once it has
 * the result of the one before, and then is done.
 */
export class ScriptedApi {
	results: readonly string[] = [];
	/** The names of the tools that the host offered with so many results. */
	readonly offered: (readonly string[])[] = [];
	/** Awaited before the model answers a request with so many results for the first time. */
	onResults: (count: number) => Promise<void> | void = () => {};
	url = "";
	readonly #steps: readonly ScriptedStep[];

	private constructor(steps: readonly ScriptedStep[]) {
		this.#steps = steps;
	}

	static async listen(test: TestContext, ...steps: readonly ScriptedStep[]): Promise<ScriptedApi> {
		const api = new ScriptedApi(steps);
		const server = createServer((request, response) => void api.#answer(request, response));
		api.url = `http://127.0.0.1:${await listen(test, server)}`;
		return api;
	}

	async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const bytes = await buffer(request);
		const body = bytes.length === 0 ? {} : JSON.parse(bytes.toString());
		if (request.url?.includes("treamGenerateContent")) {
			sendEvents(response, [await this.#geminiAnswer(body)]);
		} else if (request.url?.endsWith("/responses")) {
			sendEvents(response, await this.#openAiAnswer(body));
		} else if (/\/messages(\?|$)/.test(request.url ?? "") && body.stream) {
			sendEvents(response, await this.#anthropicAnswer(body));
		} else {
			response.writeHead(404).end("{}");
		}
	}

	async #geminiAnswer({ tools = [], contents }: Json): Promise<Json> {
		const results = contents.flatMap(({ parts }: Json) => parts.filter((part: Json) => part.functionResponse));
		const names = tools.flatMap(({ functionDeclarations = [] }: Json) => functionDeclarations) as NamedTool[];
		const call = await this.#next(names, results);
		const part = call ? { functionCall: { name: call.tool.name, args: call.args } } : { text: "done" };
		return { candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }] };
	}

	async #openAiAnswer({ tools = [], input }: Json): Promise<Json[]> {
		const results = input.filter(({ type }: Json) => type === "function_call_output");
		const names = tools.flatMap(({ name: namespace, tools: inner, ...tool }: Json) =>
			inner ? inner.map(({ name }: Json) => ({ name, namespace })) : [{ ...tool, name: namespace }],
		) as NamedTool[];
		const call = await this.#next(names, results);
		const content = [{ type: "output_text", text: "done" }];
		const item = call
			? { type: "function_call", call_id: call.id, ...call.tool, arguments: JSON.stringify(call.args) }
			: { type: "message", role: "assistant", content };
		const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
		return [
			{ type: "response.created", response: { id: "response" } },
			{ type: "response.output_item.done", output_index: 0, item: { id: "item", ...item } },
			{ type: "response.completed", response: { id: "response", usage } },
		];
	}

	async #anthropicAnswer({ tools = [], messages, model }: Json): Promise<Json[]> {
		const blocks = messages.flatMap(({ content }: Json) => (Array.isArray(content) ? content : []));
		const results = blocks.filter(({ type }: Json) => type === "tool_result");
		const call = await this.#next(tools, results);
		const usage = { input_tokens: 1, output_tokens: 1 };
		const empty = { id: "message", type: "message", role: "assistant", model, content: [], stop_reason: null };
		const block = call
			? { type: "tool_use", id: call.id, name: call.tool.name, input: {} }
			: { type: "text", text: "" };
		const delta = call
			? { type: "input_json_delta", partial_json: JSON.stringify(call.args) }
			: { type: "text_delta", text: "done" };
		return [
			{ type: "message_start", message: { ...empty, stop_sequence: null, usage } },
			{ type: "content_block_start", index: 0, content_block: block },
			{ type: "content_block_delta", index: 0, delta },
			{ type: "content_block_stop", index: 0 },
			{ type: "message_delta", delta: { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null }, usage },
			{ type: "message_stop" },
		];
	}

	/** The call that comes after these results; undefined after the last one. */
	async #next(tools: readonly NamedTool[], results: readonly unknown[]) {
		const at = results.length;
		const names = tools.map(({ name = "" }) => name);
		if (names.length > 0 && this.offered[at] === undefined) {
			this.results = results.map((result) => JSON.stringify(result));
			this.offered[at] = names;
			await this.onResults(at);
		}
		const step = this.#steps[at];
		const found = step && tools.find(({ name }) => name?.endsWith(step.ending));
		if (step === undefined || found === undefined) {
			return undefined;
		}
		const args = typeof step.args === "function" ? step.args(this.results) : step.args;
		return { id: `call_${at}`, tool: { name: found.name, namespace: found.namespace }, args };
	}
}

function sendEvents(response: ServerResponse, events: readonly Json[]): void {
	response.writeHead(200, { "Content-Type": "text/event-stream" });
	for (const event of events) {
		response.write(`${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
	}
	response.end();
}
