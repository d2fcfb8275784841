import { isObject } from "../text/is-object.js";
import { parseJson } from "../text/parse-json.js";
import { readClient } from "./client.js";
import { callResult, failureResult, type ToolResult } from "./content.js";
import {
	ErrorCode,
	errorMessage,
	isRequestId,
	type RequestId,
	RpcError,
	resultMessage,
	resultOverhead,
} from "./json-rpc.js";
import type { McpServer, SessionOptions } from "./mcp-server.js";
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

type Params = Readonly<Record<string, unknown>>;

/** An answer to send: now, later, or none. */
type Answer = string | undefined | Promise<string | undefined>;

const NO_PARAMS: Params = {};

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
	readonly #envelopeBytes: number;
	readonly #onClose: () => void;
	/** Asynchronous calls under way. Backends reuse ids, so this is no map. */
	readonly #calls: ToolCall[] = [];
	#closed = false;

	constructor(server: McpServer<Context>, options: SessionOptions, onClose: () => void) {
		this.#server = server;
		this.#send = options.send;
		this.#envelopeBytes = options.envelopeBytes ?? 0;
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

	/** Sends a message that is no answer. */
	send(message: string): void {
		if (!this.#closed) {
			this.#send(message);
		}
	}

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
			this.send(answer);
		} else if (answer !== undefined) {
			void answer.then((text) => text !== undefined && this.send(text));
		}
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
			return Promise.all(answers).then(joinBatch);
		}
		return joinBatch(answers as (string | undefined)[]);
	}

	#answer(message: unknown, inBatch = false): Answer {
		if (!isObject(message)) {
			return this.#unreadable(ErrorCode.invalidRequest, "Invalid request: expected an object");
		}
		const { id, method, params } = message;
		if (typeof method !== "string") {
			return this.#answerWithoutMethod(message);
		}
		if (id === undefined || method.startsWith("notifications/")) {
			this.#take(method, params);
			return undefined;
		}
		if (!isRequestId(id)) {
			return this.#unreadable(ErrorCode.invalidRequest, "Invalid request: id must be a string or an integer");
		}
		try {
			if (message.jsonrpc !== "2.0") {
				throw new RpcError(ErrorCode.invalidRequest, 'Invalid request: jsonrpc must be "2.0"');
			}
			if (inBatch && method === "initialize") {
				throw new RpcError(ErrorCode.invalidRequest, "Invalid request: initialize must not be part of a batch");
			}
			return this.#dispatch(id, method, checkParams(params));
		} catch (error) {
			return errorMessage(id, toRpcError(error));
		}
	}

	/** What has no method is a response, to which none is due, or no message of JSON-RPC at all. */
	#answerWithoutMethod(message: Params): string | undefined {
		if (message.method === undefined && ("result" in message || "error" in message)) {
			this.#server.log(`response to nothing that was asked, id ${JSON.stringify(message.id)}: dropped`);
			return undefined;
		}
		const error = new RpcError(ErrorCode.invalidRequest, "Invalid request: method must be a string");
		return errorMessage(isRequestId(message.id) ? message.id : unreadableId(this.#revision), error);
	}

	#unreadable(code: number, text: string): string {
		return errorMessage(unreadableId(this.#revision), new RpcError(code, text));
	}

	#dispatch(id: RequestId, method: string, params: Params): Answer {
		switch (method) {
			case "tools/call":
				return this.#callTool(id, params);
			case "tools/list":
				return resultMessage(id, this.#listTools(id, params));
			case "initialize":
				return resultMessage(id, this.#initialize(params));
			case "ping":
				return resultMessage(id, "{}");
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
		const budget = this.#server.pageBytes - this.#envelopeBytes - resultOverhead(id);
		return this.#server.tools.page(cursor, withUserTools, budget);
	}

	#callTool(id: RequestId, params: Params): Answer {
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
		const call = new ToolCall(id, this.#client, progressToken(params), this.#send);
		try {
			const result = tool.run(validate(tool.input, readArguments(params)), this.#server.context, call);
			return result instanceof Promise ? this.#settle(tool, call, result) : this.#succeed(id, result);
		} catch (error) {
			return this.#fail(tool, id, error);
		}
	}

	/** Waits for an asynchronous call. Nothing is answered to one that was cancelled (MCP "Cancellation"). */
	async #settle(tool: Tool<Context>, call: ToolCall, result: Promise<ToolResult>): Promise<string | undefined> {
		this.#calls.push(call);
		let answer: string;
		try {
			answer = this.#succeed(call.id, await result);
		} catch (error) {
			answer = this.#fail(tool, call.id, error);
		}
		call.end();
		const at = this.#calls.indexOf(call);
		if (at >= 0) {
			this.#calls.splice(at, 1);
		}
		return call.cancelled ? undefined : answer;
	}

	#succeed(id: RequestId, value: ToolResult): string {
		return resultMessage(id, callResult(value, this.#revision));
	}

	#fail(tool: Tool<Context>, id: RequestId, error: unknown): string {
		if (error instanceof ValidationError && !reportsBadArgumentsAsResult(this.#revision)) {
			return errorMessage(id, new RpcError(ErrorCode.invalidParams, error.message));
		}
		if (error instanceof RpcError) {
			return errorMessage(id, error);
		}
		const text = error instanceof Error ? error.message || error.name : String(error);
		this.#server.log(`tool ${tool.name} failed: ${text}`);
		return resultMessage(id, failureResult(text));
	}
}

function checkParams(params: unknown): Params {
	if (params === undefined) {
		return NO_PARAMS;
	}
	if (isObject(params)) {
		return params;
	}
	if (Array.isArray(params)) {
		throw new RpcError(ErrorCode.invalidParams, "Invalid params: expected an object, got an array");
	}
	throw new RpcError(ErrorCode.invalidRequest, "Invalid request: params must be an object");
}

/** Clients exist that send null for "no arguments". */
function readArguments(params: Params): Params {
	const value = params.arguments ?? NO_PARAMS;
	if (!isObject(value)) {
		throw new RpcError(ErrorCode.invalidParams, "arguments: expected an object");
	}
	return value;
}

function progressToken(params: Params): RequestId | undefined {
	const token = isObject(params._meta) ? params._meta.progressToken : undefined;
	return isRequestId(token) ? token : undefined;
}

function joinBatch(answers: readonly (string | undefined)[]): string | undefined {
	const due = answers.filter((answer) => answer !== undefined);
	return due.length > 0 ? `[${due.join(",")}]` : undefined;
}

function toRpcError(error: unknown): RpcError {
	if (error instanceof RpcError) {
		return error;
	}
	const text = error instanceof Error ? error.message : String(error);
	return new RpcError(ErrorCode.internalError, `Internal error: ${text}`);
}
