import { isObject } from "../text/is-object.js";
import { parseJson } from "../text/parse-json.js";
import { utf8Length } from "../text/utf8.js";
import { readClient } from "./client.js";
import { callResult, failureResult, type ToolResult } from "./content.js";
import {
	type Envelope,
	ErrorCode,
	errorMessage,
	isRequestId,
	NO_ENVELOPE,
	type RequestId,
	RpcError,
	resultMessage,
	resultOverhead,
} from "./json-rpc.js";
import type { McpServer, SessionOptions } from "./mcp-server.js";
import { checkParams, type Params, progressToken, readArguments } from "./params.js";
import {
	allowsBatches,
	negotiate,
	OLDEST_REVISION,
	type Revision,
	reportsBadArgumentsAsResult,
	unknownToolCode,
	unreadableId,
} from "./revision.js";
import type { Tool } from "./tool.js";
import { type Client, ToolCall } from "./tool-call.js";
import { ValidationError, validate } from "./validate.js";

/** An answer to send: now, later, or none. */
type Answer = string | undefined | Promise<string | undefined>;

/**
 * One client's conversation with the server: the negotiated revision, the client's capabilities, the calls under way.
 *
 * Answers every request exactly once, unless it is cancelled or the session closes; never answers a notification.
 */
export class McpSession<Context> {
	#revision: Revision = OLDEST_REVISION;
	#client: Client = { capabilities: {} };
	readonly #server: McpServer<Context>;
	readonly #send: (message: string) => void;
	readonly #envelope: Envelope;
	readonly #pageBytes: number;
	readonly #onClose: () => void;
	/** Asynchronous calls under way. Backends reuse ids, so this is no map. */
	readonly #calls: ToolCall[] = [];
	#closed = false;

	constructor(server: McpServer<Context>, options: SessionOptions, onClose: () => void) {
		this.#server = server;
		this.#send = options.send;
		this.#envelope = options.envelope ?? NO_ENVELOPE;
		this.#pageBytes = server.pageBytes - utf8Length(this.#envelope.start) - utf8Length(this.#envelope.end);
		this.#onClose = onClose;
	}

	/** The revision in force: the oldest until `initialize` says otherwise. */
	get revision(): Revision {
		return this.#revision;
	}

	/** What the client said of itself. */
	get client(): Client {
		return this.#client;
	}

	/** Takes one JSON-RPC message as text. */
	receiveText(text: string): void {
		let message: unknown;
		try {
			message = parseJson(text);
		} catch (error) {
			this.#deliver(this.#unreadable(ErrorCode.parseError, `Parse error: ${(error as Error).message}`));
			return;
		}
		this.receive(message);
	}

	/** Takes one JSON-RPC message that has been parsed already, or a batch of them. */
	receive(message: unknown): void {
		if (this.#closed) {
			return;
		}
		this.#deliver(Array.isArray(message) ? this.#answerBatch(message) : this.#answer(message));
	}

	/** Sends a notification. */
	readonly notify = (message: string): void => {
		this.#deliver(this.#wrap(message));
	};

	/** Ends the session: calls under way are cancelled, their results dropped. */
	close(): void {
		if (this.#closed) {
			return;
		}
		this.#closed = true;
		for (const call of this.#calls.splice(0)) {
			this.#cancel(call);
		}
		this.#onClose();
	}

	#deliver(answer: Answer): void {
		if (typeof answer === "string") {
			if (!this.#closed) {
				this.#send(answer);
			}
		} else if (answer !== undefined) {
			void answer.then((text) => this.#deliver(text));
		}
	}

	#wrap(message: string): string {
		return this.#envelope.start.concat(message, this.#envelope.end);
	}

	/** JSON-RPC 2.0 §6, where the revision has batches: the answers in one array, and none when nothing is due. */
	#answerBatch(messages: readonly unknown[]): Answer {
		if (!allowsBatches(this.#revision)) {
			return this.#unreadable(ErrorCode.invalidRequest, `Invalid request: no batches in MCP ${this.#revision}`);
		}
		if (messages.length === 0) {
			return this.#unreadable(ErrorCode.invalidRequest, "Invalid request: empty batch");
		}
		const answers = messages.map((message) => this.#answer(message, true));
		if (answers.some((answer) => answer instanceof Promise)) {
			return Promise.all(answers).then((texts) => this.#joinBatch(texts));
		}
		return this.#joinBatch(answers as (string | undefined)[]);
	}

	#joinBatch(answers: readonly (string | undefined)[]): string | undefined {
		const due = answers.filter((answer) => answer !== undefined);
		return due.length > 0 ? this.#wrap(`[${due.join(",")}]`) : undefined;
	}

	/** The answer in its envelope; in a batch without one. */
	#answer(message: unknown, inBatch = false): Answer {
		const envelope = inBatch ? NO_ENVELOPE : this.#envelope;
		if (!isObject(message)) {
			return this.#unreadable(ErrorCode.invalidRequest, "Invalid request: expected an object", envelope);
		}
		const { id, method, params } = message;
		if (typeof method !== "string") {
			return this.#answerWithoutMethod(message, envelope);
		}
		if (id === undefined || method.startsWith("notifications/")) {
			this.#take(method, params);
			return undefined;
		}
		if (!isRequestId(id)) {
			return this.#unreadable(ErrorCode.invalidRequest, "Invalid request: id must be a string or an integer", envelope);
		}
		try {
			if (message.jsonrpc !== "2.0") {
				throw new RpcError(ErrorCode.invalidRequest, 'Invalid request: jsonrpc must be "2.0"');
			}
			if (inBatch && method === "initialize") {
				throw new RpcError(ErrorCode.invalidRequest, "Invalid request: initialize must not be part of a batch");
			}
			return this.#dispatch(id, method, checkParams(params), envelope);
		} catch (error) {
			return errorMessage(id, toRpcError(error), envelope);
		}
	}

	/** What has no method is a response, to which none is due, or no message of JSON-RPC at all. */
	#answerWithoutMethod(message: Params, envelope: Envelope): string | undefined {
		if (message.method === undefined && ("result" in message || "error" in message)) {
			this.#server.log(`response to nothing that was asked, id ${JSON.stringify(message.id)}: dropped`);
			return undefined;
		}
		const error = new RpcError(ErrorCode.invalidRequest, "Invalid request: method must be a string");
		return errorMessage(isRequestId(message.id) ? message.id : unreadableId(this.#revision), error, envelope);
	}

	#unreadable(code: number, text: string, envelope = this.#envelope): string {
		return errorMessage(unreadableId(this.#revision), new RpcError(code, text), envelope);
	}

	#dispatch(id: RequestId, method: string, params: Params, envelope: Envelope): Answer {
		switch (method) {
			case "tools/call":
				return this.#callTool(id, params, envelope);
			case "tools/list":
				return resultMessage(id, this.#listTools(id, params), envelope);
			case "initialize":
				return resultMessage(id, this.#initialize(params), envelope);
			case "ping":
				return resultMessage(id, "{}", envelope);
			default:
				throw new RpcError(ErrorCode.methodNotFound, `Method not found: ${method}`);
		}
	}

	/** Notifications. `initialized` and those not known change nothing. */
	#take(method: string, params: unknown): void {
		if (method !== "notifications/cancelled" || !isObject(params)) {
			return;
		}
		for (const call of this.#calls) {
			if (call.id === params.requestId) {
				this.#cancel(call);
			}
		}
	}

	/** A tool that fails to stop must not take the session down. */
	#cancel(call: ToolCall): void {
		try {
			call.cancel();
		} catch (error) {
			this.#server.log(`call ${JSON.stringify(call.id)}: failed to cancel: ${String(error)}`);
		}
	}

	#initialize(params: Params): string {
		const { protocolVersion } = params;
		if (protocolVersion !== undefined && typeof protocolVersion !== "string") {
			throw new RpcError(ErrorCode.invalidParams, "protocolVersion: expected a string");
		}
		this.#client = readClient(params, this.#server.log);
		this.#revision = negotiate(protocolVersion);
		const { name, version } = this.#server;
		return JSON.stringify({
			protocolVersion: this.#revision,
			capabilities: { tools: { listChanged: true } },
			serverInfo: { name, version },
		});
	}

	#listTools(id: RequestId, params: Params): string {
		const { cursor = "", withUserTools = false } = params;
		if (typeof cursor !== "string") {
			throw new RpcError(ErrorCode.invalidParams, "cursor: expected a string");
		}
		if (typeof withUserTools !== "boolean") {
			throw new RpcError(ErrorCode.invalidParams, "withUserTools: expected true or false");
		}
		return this.#server.tools.page(cursor, withUserTools, this.#pageBytes - resultOverhead(id));
	}

	#callTool(id: RequestId, params: Params, envelope: Envelope): Answer {
		const { name } = params;
		if (typeof name !== "string") {
			throw new RpcError(ErrorCode.invalidParams, "name: expected the name of a tool");
		}
		const tool = this.#server.tools.get(name);
		if (tool === undefined) {
			throw new RpcError(unknownToolCode(this.#revision), `Unknown tool: ${name}`);
		}
		if (this.#calls.length >= this.#server.maxCalls) {
			throw new RpcError(ErrorCode.tooManyCalls, `Too many calls under way: at most ${this.#server.maxCalls}`);
		}
		const call = new ToolCall(id, this.#client, progressToken(params), this.notify);
		try {
			const result = tool.run(validate(tool.input, readArguments(params)), this.#server.context, call);
			return result instanceof Promise
				? this.#settle(tool, call, result, envelope)
				: resultMessage(id, callResult(result, this.#revision), envelope);
		} catch (error) {
			return this.#fail(tool, id, error, envelope);
		}
	}

	/** Waits for an asynchronous call. Nothing is answered to one that was cancelled (MCP "Cancellation"). */
	async #settle(
		tool: Tool<Context>,
		call: ToolCall,
		result: Promise<ToolResult>,
		envelope: Envelope,
	): Promise<string | undefined> {
		this.#calls.push(call);
		let answer: string;
		try {
			answer = resultMessage(call.id, callResult(await result, this.#revision), envelope);
		} catch (error) {
			answer = this.#fail(tool, call.id, error, envelope);
		}
		call.end();
		const at = this.#calls.indexOf(call);
		if (at >= 0) {
			this.#calls.splice(at, 1);
		}
		return call.cancelled ? undefined : answer;
	}

	#fail(tool: Tool<Context>, id: RequestId, error: unknown, envelope: Envelope): string {
		if (error instanceof ValidationError && !reportsBadArgumentsAsResult(this.#revision)) {
			return errorMessage(id, new RpcError(ErrorCode.invalidParams, error.message), envelope);
		}
		if (error instanceof RpcError) {
			return errorMessage(id, error, envelope);
		}
		const text = error instanceof Error ? error.message || error.name : String(error);
		this.#server.log(`tool ${tool.name} failed: ${text}`);
		return resultMessage(id, failureResult(text), envelope);
	}
}

function toRpcError(error: unknown): RpcError {
	if (error instanceof RpcError) {
		return error;
	}
	const text = error instanceof Error ? error.message : String(error);
	return new RpcError(ErrorCode.internalError, `Internal error: ${text}`);
}
