import { isObject, PiecedText, type Sendable } from "../core/text/json.js";
import { fitsUtf8, MAX_BYTES_PER_UNIT, utf8Length } from "../core/text/utf8.js";
import { type Client, initialize, NO_CAPABILITIES } from "./client.js";
import { type CallResult, callResult, failureResult, type ToolResult } from "./content.js";
import {
	type Answer,
	CALL_TOOL,
	checkParams,
	ErrorCode,
	errorMessage,
	hasToolDetails,
	INITIALIZE,
	invalidParams,
	invalidRequest,
	isRequestId,
	LIST_TOOLS,
	type LongResult,
	longResultMessage,
	NO_WRAPPER,
	OLDEST_REVISION,
	type Params,
	PING,
	parseMessage,
	progressToken,
	quotable,
	RESPONSE_END,
	RESPONSE_START,
	RESULT_START,
	type RequestId,
	type Revision,
	RpcError,
	readArguments,
	readCursor,
	reportsFailureAsError,
	resultOverhead,
	toRpcError,
	unreadableId,
	type Wrapper,
} from "./json-rpc.js";
import type { McpServer } from "./mcp-server.js";
import type { Tool } from "./tool.js";
import { cancelCalls, ToolCall } from "./tool-call.js";
import { ValidationError, validateMembers } from "./validate.js";

// Looked up once: XS searches the global object, and these, at each use.
const { isArray } = Array;
const { isSafeInteger } = Number;
const { stringify } = JSON;
const JSON_RPC = "2.0";

/** Maximum number of asynchronous calls in progress, and of messages in a batch. */
const MAX_CALLS = 16;

/** How a session reaches its client. */
export interface SessionOptions {
	/**
	 * Sends one message, in its wrapper, to the peer.
	 *
	 * @param isAnswer whether it is a response, not a notification or request
	 */
	readonly send: (text: Sendable, isAnswer: boolean) => void;
	/** The transport's wrapper around each message. Default: none. */
	readonly wrapper?: Wrapper;
	/** The largest message with a page of a list, wrapper included, in bytes. Default: that of the server, or `maxBytes`. */
	readonly pageBytes?: number | undefined;
	/** The longest other message in bytes: a longer response becomes an error. Default: no limit. */
	readonly maxBytes?: number;
	/** Sessions with the same owner may resume each other's suspended requests. Default: the session itself. */
	readonly owner?: object;
}

/**
 * One client's conversation with the server: the negotiated revision, the client's capabilities, the calls in progress.
 *
 * Answers every request exactly once, unless it is cancelled or the session closes; never answers a notification.
 */
export class McpSession<Context> {
	/** The negotiated revision: the oldest until `initialize`. */
	revision: Revision = OLDEST_REVISION;
	/** The client's description of itself. */
	client: Client = { capabilities: NO_CAPABILITIES };
	readonly server: McpServer<Context>;
	private send: SessionOptions["send"];
	/** The wrapper around each message. Calls in progress keep the one with which they started. */
	wrapper: Wrapper;
	/** Asynchronous calls in progress. Not a map, because backends reuse ids. */
	calls: ToolCall[] = [];
	private closed = false;
	/** The session's own limit of a page: see {@link SessionOptions}. */
	readonly maxPageBytes: number | undefined;
	/** The longest other message in bytes. */
	maxBytes: number;

	constructor(server: McpServer<Context>, options: SessionOptions) {
		const { send, wrapper = NO_WRAPPER, pageBytes, maxBytes = Number.POSITIVE_INFINITY } = options;
		this.server = server;
		this.maxPageBytes = pageBytes;
		this.maxBytes = maxBytes;
		this.send = send;
		this.wrapper = wrapper;
	}

	/** The largest message with a page of a list, without the wrapper, in bytes. */
	get pageBytes(): number {
		return (this.maxPageBytes ?? Math.min(this.server.pageBytes, this.maxBytes)) - this.wrapper.bytes;
	}

	/** Takes one JSON-RPC message as text. */
	receiveText(text: string): void {
		let message: unknown;
		try {
			message = parseMessage(text, this.server);
		} catch (error) {
			this.deliver(this.unreadable(error as RpcError));
			return;
		}
		this.receive(message);
	}

	/** Takes one parsed JSON-RPC message, or a batch. */
	receive(message: unknown): void {
		if (this.closed) {
			return;
		}
		const answer = this.answer(message as Params, this.wrapper);
		// Most answers are ready and short: they are sent without a further call.
		if (typeof answer === "string" && answer.length * MAX_BYTES_PER_UNIT <= this.maxBytes) {
			this.send(answer, true);
		} else {
			this.deliver(answer, (message as Params | null)?.id);
		}
	}

	/**
	 * Answers a request with an error, without carrying it out.
	 *
	 * @param message the request, possibly incomplete; without its id there is no answer
	 * @param reason the error text
	 */
	reject(message: unknown, reason: string): void {
		if (isObject(message) && isRequestId(message.id)) {
			const error = invalidRequest(reason);
			this.deliver(errorMessage(message.id, error, this.wrapper));
		}
	}

	/** Sends a notification, or a request to the client. */
	notify(message: string): void {
		this.send(this.wrap(message), false);
	}

	/** Ends the session: cancels the calls in progress and drops their results. */
	close(): void {
		this.closed = true;
		// Pending answers are dropped.
		this.send = () => {};
		cancelCalls(this.calls.splice(0), this.server.log);
		this.server.sessions.delete(this);
	}

	/** @param id of the request */
	private deliver(answer: Answer, id?: unknown): void {
		if (typeof answer === "object" && answer instanceof Promise) {
			void answer.then((text) => this.deliver(text, id));
		} else if (answer !== undefined) {
			this.send(this.limitAnswer(answer, id), true);
		}
	}

	/** Returns the answer, or an error if it is too long: it could break the connection, and so end the session. */
	private limitAnswer(answer: Sendable, id: unknown): Sendable {
		const isText = typeof answer === "string";
		const limit = isText ? this.maxBytes : (this.maxPageBytes ?? this.maxBytes);
		if (isText ? fitsUtf8(answer, limit) : answer.bytes <= limit) {
			return answer;
		}
		const bytes = isText ? utf8Length(answer) : answer.bytes;
		const problem = `response of ${bytes} bytes (limit of this connection: ${limit})`;
		const error = new RpcError(ErrorCode.internalError, `Internal error: ${problem}`);
		return errorMessage(isRequestId(id) ? id : unreadableId(this.revision), error, this.wrapper);
	}

	private wrap(message: string): string {
		return this.wrapper.start.concat(message, this.wrapper.end);
	}

	/**
	 * The answers in one array; none if no answer is due: https://www.jsonrpc.org/specification#batch §6
	 * Batches were part of the protocol until 2025-06-18 removed them.
	 */
	private answerBatch(messages: readonly unknown[]): Answer {
		const { length } = messages;
		if (this.revision > "2025-03-26") {
			return this.unreadable(invalidRequest(`MCP ${this.revision} has no batches`));
		}
		if (length === 0 || length > MAX_CALLS) {
			const problem = length === 0 ? "empty batch" : `batch of ${length} messages (limit ${MAX_CALLS})`;
			return this.unreadable(invalidRequest(problem));
		}
		let room = (this.server.pageBytes - this.wrapper.bytes) / 2;
		const answers = messages.map((message) => {
			const answer = this.answer(message as Params, NO_WRAPPER, room);
			// Characters or bytes: an estimate is enough here.
			room -= typeof answer === "string" ? answer.length : answer instanceof PiecedText ? answer.bytes : 0;
			return answer;
		});
		const join = (all: readonly (Sendable | undefined)[]): string | undefined => {
			const due = all.filter((answer) => answer !== undefined);
			return due.length > 0 ? this.wrap(`[${due.join(",")}]`) : undefined;
		};
		return answers.some((each) => each instanceof Promise)
			? Promise.all(answers).then(join)
			: join(answers as (Sendable | undefined)[]);
	}

	/**
	 * The answer in its wrapper.
	 *
	 * @param message any JSON
	 * @param room approximate bytes left for the answers of a batch; undefined outside a batch
	 */
	private answer(message: Params, wrapper: Wrapper, room?: number): Answer {
		const method = message?.method;
		if (typeof method !== "string") {
			return this.answerOther(message, wrapper, room !== undefined);
		}
		// Only an object has a method.
		const id = message.id;
		if (id === undefined) {
			this.takeNotification(method, message.params);
			return undefined;
		}
		try {
			// Most ids are integers: they are checked without a further call, which was 1 % of a ping.
			if (!isSafeInteger(id) && !isRequestId(id)) {
				throw invalidRequest("id must be a string or an integer");
			}
			if (message.jsonrpc !== JSON_RPC) {
				throw invalidRequest('jsonrpc must be "2.0"');
			}
			if (room !== undefined && (method === INITIALIZE || room <= 0)) {
				const isFull = method !== INITIALIZE;
				throw invalidRequest(isFull ? "the batch response is full" : "initialize must not be part of a batch");
			}
			const given = message.params;
			// Most params are an object: they are checked without a further call, too.
			const params = typeof given === "object" && given !== null && !isArray(given) ? given : checkParams(given);
			return this.dispatch(id as RequestId, method, params as Params, wrapper, room !== undefined);
		} catch (error) {
			// Some backends give notifications an id.
			if (method.startsWith("notifications/")) {
				this.takeNotification(method, message.params);
				return undefined;
			}
			return errorMessage(isRequestId(id) ? id : unreadableId(this.revision), toRpcError(error), wrapper);
		}
	}

	/** Answers a message that is neither a request nor a notification. */
	private answerOther(received: unknown, wrapper: Wrapper, isBatched: boolean): Answer {
		if (isObject(received)) {
			return this.answerWithoutMethod(received, wrapper);
		}
		return isArray(received) && !isBatched
			? this.answerBatch(received)
			: this.unreadable(invalidRequest("expected an object"), wrapper);
	}

	/** A message without a method is a response, which needs no answer, or not JSON-RPC. */
	protected answerWithoutMethod(message: Params, wrapper: Wrapper): string | undefined {
		if ((message.method ?? null) === null && ("result" in message || "error" in message)) {
			this.server.log(`unexpected response, id ${JSON.stringify(message.id)}: dropped`);
			return undefined;
		}
		const error = invalidRequest("method must be a string");
		return errorMessage(isRequestId(message.id) ? message.id : unreadableId(this.revision), error, wrapper);
	}

	private unreadable(error: RpcError, wrapper = this.wrapper): string {
		return errorMessage(unreadableId(this.revision), error, wrapper);
	}

	/**
	 * @param _isBatched whether the request is part of a batch
	 * @throws RpcError
	 */
	protected dispatch(id: RequestId, method: string, params: Params, wrapper: Wrapper, _isBatched: boolean): Answer {
		switch (method) {
			case CALL_TOOL:
				return this.callTool(id, params, wrapper);
			case LIST_TOOLS:
				return this.longResult(id, this.listTools(id, params), wrapper);
			case PING:
				return this.result(id, "{}", wrapper);
			case INITIALIZE:
				return this.result(id, initialize(params, this), wrapper);
			default:
				throw new RpcError(ErrorCode.methodNotFound, `Method not found: ${quotable(method)}`);
		}
	}

	/** Returns the response with this result. `concat` copies the JSON once, a template once per part. */
	protected result(id: RequestId, json: string, wrapper: Wrapper): string {
		return wrapper.start.concat(
			RESPONSE_START,
			// `concat` converts a number to text.
			(typeof id === "number" ? id : stringify(id)) as string,
			RESULT_START,
			json,
			RESPONSE_END,
			wrapper.end,
		);
	}

	/** Returns the response with this result of `tools/call`. */
	protected callMessage(id: RequestId, result: CallResult, wrapper: Wrapper): string {
		return wrapper.start.concat(
			RESPONSE_START,
			(typeof id === "number" ? id : stringify(id)) as string,
			RESULT_START,
			result.before,
			result.content,
			result.after,
			RESPONSE_END,
			wrapper.end,
		);
	}

	/** Returns the response with this result. */
	protected longResult(id: RequestId, result: LongResult, wrapper: Wrapper): Sendable {
		return longResultMessage(id, result, wrapper);
	}

	/** @throws RpcError when too many calls are in progress */
	protected startCall(id: RequestId, params: Params): ToolCall {
		if (this.calls.length >= MAX_CALLS) {
			throw new RpcError(ErrorCode.tooManyCalls, `Too many calls in progress (limit ${MAX_CALLS})`);
		}
		return new ToolCall(id, this, params._meta === undefined ? undefined : progressToken(params));
	}

	/** Takes a notification. `initialized` and unknown notifications are ignored. */
	private takeNotification(method: string, params: unknown): void {
		if (method !== "notifications/cancelled" || !isObject(params)) {
			return;
		}
		cancelCalls(
			this.calls.filter(({ id }) => id === params.requestId),
			this.server.log,
		);
	}

	private listTools(id: RequestId, params: Params): LongResult {
		const withUserTools = params.withUserTools ?? false;
		if (typeof withUserTools !== "boolean") {
			throw invalidParams("withUserTools: expected true or false");
		}
		const isPlain = !hasToolDetails(this.revision);
		return this.server.tools.page(readCursor(params), withUserTools, isPlain, this.pageBytes - resultOverhead(id));
	}

	private callTool(id: RequestId, params: Params, wrapper: Wrapper): Answer {
		const tool = this.server.tools.byName.get(params.name);
		if (tool === undefined) {
			throw this.unknownTool(params.name);
		}
		const call = this.startCall(id, params);
		try {
			const given = params.arguments;
			// Most arguments are an object: they are checked without a further call.
			const args = typeof given === "object" && given !== null && !isArray(given) ? given : readArguments(params);
			const result = tool.run(validateMembers(tool.members, args as Params), this.server.context, call);
			return typeof result === "object" && result instanceof Promise
				? this.settle(tool, call, result, wrapper)
				: this.callMessage(id, callResult(result, this.revision), wrapper);
		} catch (error) {
			return this.fail(tool, id, error, wrapper);
		}
	}

	/**
	 * Waits for the end of an asynchronous request. A cancelled one gets no answer (MCP 2025-11-25, basic/utilities/cancellation).
	 *
	 * @param tool undefined for a request of a feature, whose result is JSON
	 */
	protected async settle(
		tool: Tool<Context> | undefined,
		call: ToolCall,
		result: Promise<ToolResult>,
		wrapper: Wrapper,
	): Promise<Sendable | undefined> {
		this.calls.push(call);
		let answer: Sendable;
		try {
			const value = await result;
			answer =
				tool === undefined
					? this.result(call.id, value as string, wrapper)
					: this.callMessage(call.id, callResult(value, this.revision), wrapper);
		} catch (error) {
			answer =
				tool === undefined
					? errorMessage(call.id, toRpcError(error), wrapper)
					: this.fail(tool, call.id, error, wrapper);
		}
		call.end();
		const at = this.calls.indexOf(call);
		if (at >= 0) {
			this.calls.splice(at, 1);
		}
		return call.cancelled ? undefined : answer;
	}

	/** Returns the answer to a call whose tool has thrown: an error, or a result with its text, by the revision. */
	private fail({ name }: Tool<Context>, id: RequestId, error: unknown, wrapper: Wrapper): Sendable {
		const { revision } = this;
		if (error instanceof RpcError) {
			return errorMessage(id, error, wrapper);
		}
		const text = error instanceof Error ? error.message || error.name : String(error);
		// Since 2025-11-25 invalid arguments are a tool error, which a language model can read and correct.
		if (error instanceof ValidationError && revision < "2025-11-25") {
			return errorMessage(id, invalidParams(text), wrapper);
		}
		this.server.log(`tool ${name} failed: ${text}`);
		return reportsFailureAsError(revision)
			? errorMessage(id, new RpcError(ErrorCode.internalError, text), wrapper)
			: this.callMessage(id, failureResult(text), wrapper);
	}

	/** The error for a call of a tool that the server does not have. Since 2025-03-26 it suggests the nearest name. */
	private unknownTool(name: unknown): RpcError {
		if (typeof name !== "string") {
			return invalidParams("name: expected the name of a tool");
		}
		const suggestion = hasToolDetails(this.revision) ? this.server.tools.suggestion(name) : "";
		// The first backends, and the document they follow, expect "method not found".
		const code = this.revision === OLDEST_REVISION ? ErrorCode.methodNotFound : ErrorCode.invalidParams;
		return new RpcError(code, `Unknown tool: ${quotable(name)}${suggestion}`);
	}
}
