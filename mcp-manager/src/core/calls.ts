import { type CallToolResult, isInputRequiredResult, type RequestId } from "@modelcontextprotocol/client";
import { isObject } from "../firmware.js";
import type { OrInput } from "./asking.js";
import { CallQueue } from "./call-queue.js";
import { NotSentError, ServerError, type ServerErrorCode } from "./errors.js";
import type { ServerTool } from "./offers.js";
import type { Results } from "./results.js";
import type { SchemaChecker } from "./schema-checker.js";
import type { Server } from "./server.js";
import type { ServerIdentity } from "./server-transport.js";
import type { CallOptions, Capabilities, Session } from "./session.js";

/** Lets devices upload files during their calls: the gateway's pictures. */
export interface Uploads {
	/** A session starts. Returns the capabilities sent to the device in `initialize`. */
	begin(identity: ServerIdentity): Capabilities;
	/** A session has ended. */
	end(identity: ServerIdentity): void;
	/** The tools of a device as clients see them. */
	offered(tools: readonly ServerTool[]): readonly ServerTool[];
	/**
	 * A call starts. Resolves when the device may upload; with undefined if the tool uploads nothing.
	 *
	 * Rejects with {@link ServerError} "invalid-arguments" if the device would not know where to.
	 */
	start(identity: ServerIdentity, tool: ServerTool, args: object): Promise<Upload | undefined>;
}

/** A call during which the device may upload. */
export interface Upload {
	/** The call's arguments, with the address of the upload. */
	readonly args: object;
	/** The call is sent, as the request with this id. */
	sent?(id: RequestId): void;
	/** The call's result, with what was uploaded. */
	complete(result: OrInput<CallToolResult>): OrInput<CallToolResult>;
	/** The call has ended, however it did. */
	end(): void;
}

/** Calls that may wait for one server. */
const MAX_WAITING = 64;

/** Milliseconds that a call has by default. */
const CALL_TIMEOUT = 30_000;

/** How calls to servers are limited. */
export interface CallLimits {
	/** Milliseconds that a call waits for a server that is offline. Default 10,000. */
	readonly offlineWait?: number;
	/** Milliseconds that a call waits for its turn, and that the server then has for it. Default 30,000. */
	readonly callTimeout?: number;
	/** Calls that one server works on at the same time. Default 4. */
	readonly callsPerServer?: number;
}

/** The context that the calls to all servers share. */
export interface CallContext extends CallLimits {
	readonly checker: SchemaChecker;
	/** For devices. Default: they cannot upload. */
	readonly uploads?: Uploads | undefined;
	readonly onCall: (record: CallRecord, details: CallDetails) => void;
}

/** A call that has ended. */
export interface CallRecord {
	/** Caller: a token's name, or "local". */
	readonly principal: string;
	readonly serverId: string;
	/** As the server names it. */
	readonly tool: string;
	/** Milliseconds, waiting included. */
	readonly duration: number;
	/** "failed": the tool reported an error. "rejected": the server answered with a JSON-RPC error. */
	readonly outcome: "ok" | "failed" | "rejected" | ServerErrorCode;
}

/** The content of a call that has ended. It may hold secrets, so logs and events omit it. */
export interface CallDetails {
	readonly tool: ServerTool;
	readonly args: object;
	/** Undefined if the call was rejected, or if the server wants input first. */
	readonly result: CallToolResult | undefined;
	/** The application that called, as it names itself. */
	readonly clientName: string | undefined;
}

/** How calls reach a configured server. */
export interface CallPolicy {
	/** Connects to it for a call. If that rejects, the waiting calls fail too. */
	readonly wake: () => Promise<unknown>;
	/** Makes a call, with the server's retry policy. */
	readonly retry: <T>(call: () => Promise<T>, tool: ServerTool, signal?: AbortSignal) => Promise<T>;
}

/** A request that is sent in its turn, once at most. */
interface QueuedRequest {
	readonly method: string;
	readonly params: Readonly<Record<string, unknown>>;
	readonly options: CallOptions;
	/** Whether it is another gateway's: its parameters are not changed. */
	readonly isForwarded?: boolean;
}

/** Calls and other requests to one server: in order, a few at a time, and waiting while it is offline. */
export class Calls {
	readonly #server: Server;
	readonly #context: CallContext;
	readonly #policy: CallPolicy | undefined;
	#queue: CallQueue | undefined;
	/** Calls and other requests in progress. Undefined: none. */
	#requests: Set<Promise<unknown>> | undefined;
	#isClosed = false;

	/** @param policy of a configured server */
	constructor(server: Server, context: CallContext, policy: CallPolicy | undefined) {
		this.#server = server;
		this.#context = context;
		this.#policy = policy;
	}

	/** The server can be called: the waiting calls start. */
	online(session: Session): void {
		this.#queue?.online(session);
	}

	/** The server is offline: calls wait from now on. */
	offline(): void {
		this.#queue?.offline();
	}

	/**
	 * Calls a tool: checks the arguments, waits while the server is offline, and keeps the order of the calls. A call is
	 * sent at most once. A tool that failed is a result with `isError`.
	 *
	 * Rejects with the SDK's ProtocolError when the server answers with an error, and with {@link ServerError} when it does
	 * not answer, or was not asked.
	 *
	 * @param principal who calls, for the record
	 */
	async call(
		principal: string,
		tool: ServerTool,
		args: object,
		options: CallOptions = {},
	): Promise<OrInput<CallToolResult>> {
		return await this.#track(this.#call(principal, tool, args, options));
	}

	async #call(
		principal: string,
		tool: ServerTool,
		args: object,
		options: CallOptions,
	): Promise<OrInput<CallToolResult>> {
		const start = performance.now();
		let outcome: CallRecord["outcome"] = "rejected";
		let answered: CallToolResult | undefined;
		try {
			const params = { name: tool.name, arguments: await this.checkArguments(tool, args) };
			const request = { method: "tools/call", params, options: { ...options, tool } };
			const send = () => this.#inTurn<OrInput<CallToolResult>>(request);
			const result = await (this.#policy?.retry(send, tool, options.signal) ?? send());
			await this.#checkResult(tool, result);
			answered = isInputRequiredResult(result) ? undefined : result;
			outcome = "isError" in result && result.isError ? "failed" : "ok";
			return result;
		} catch (error) {
			outcome = error instanceof ServerError ? error.code : "rejected";
			throw error;
		} finally {
			const duration = performance.now() - start;
			this.#context.onCall(
				{ principal, serverId: this.#server.id, tool: tool.name, duration, outcome },
				{ tool, args, result: answered, clientName: options.clientName },
			);
		}
	}

	/**
	 * Makes a request of another gateway's client in its turn. That gateway has checked the arguments, and records the call.
	 * Rejects as {@link call} does.
	 */
	async relay(method: string, params: Record<string, unknown>, options: CallOptions = {}): Promise<object> {
		const tool = method === "tools/call" ? this.#server.tools.find(({ name }) => name === params.name) : undefined;
		return await this.#track(this.#inTurn({ method, params, options: { ...options, tool }, isForwarded: true }));
	}

	/**
	 * Returns the arguments to send. Those that a schema requires, but has a default for, are added: clients leave them out, and
	 * servers accept that.
	 *
	 * Rejects with {@link ServerError} "invalid-arguments" if a call of the tool would.
	 */
	async checkArguments({ name, inputSchema }: ServerTool, given: object): Promise<object> {
		const args = withDefaults(inputSchema, given);
		const problem = await this.#context.checker.check({
			tool: name,
			what: "arguments",
			schema: inputSchema,
			value: args,
		});
		if (problem !== undefined) {
			throw new ServerError("invalid-arguments", problem);
		}
		return args;
	}

	/** Makes a request in its turn: waits while the server is offline, as calls do. Rejects as {@link call} does. */
	async request<Method extends keyof Results>(
		method: Method,
		params: Readonly<Record<string, unknown>>,
		options: CallOptions = {},
	): Promise<Results[Method]> {
		return await this.#track(this.#inTurn<Results[Method]>({ method, params, options }));
	}

	/** Repeats a request once if its connection had ended before it was sent, as after a restart of a configured server. */
	async #inTurn<Result extends object>(request: QueuedRequest): Promise<Result> {
		try {
			return await this.#send<Result>(request);
		} catch (error) {
			if (this.#policy === undefined || !(error instanceof NotSentError)) {
				throw error;
			}
			return await this.#send<Result>(request);
		}
	}

	async #send<Result extends object>({ method, params, options, isForwarded }: QueuedRequest): Promise<Result> {
		if (this.#isClosed) {
			throw shuttingDown();
		}
		const { callTimeout = CALL_TIMEOUT } = this.#context;
		const queue = this.#openQueue();
		if (!this.#server.online) {
			this.#policy
				?.wake()
				.catch(({ message }: Error) =>
					queue.close(new ServerError("server-offline", `${message}. Nothing was sent to it.`)),
				);
		}
		try {
			const session = await queue.enter(options.signal);
			let upload: Upload | undefined;
			try {
				const { identity } = session;
				// A device of another gateway uploads to that one, which adds the file to the result.
				if (options.tool && identity.gateway === undefined) {
					upload = await this.#context.uploads?.start(identity, options.tool, (params.arguments ?? {}) as object);
				}
				const sent = { ...params, ...(upload && { arguments: upload.args }) };
				const onSent = upload?.sent && ((id: RequestId) => upload?.sent?.(id));
				const sending = { timeout: callTimeout, ...options, onSent };
				const result = isForwarded
					? await session.forward(method, sent, sending)
					: await session.request(method as keyof Results, sent, sending);
				return (upload?.complete(result as CallToolResult) ?? result) as Result;
			} catch (error) {
				throw this.#unanswered(error, method, options.timeout ?? callTimeout);
			} finally {
				upload?.end();
				queue.leave();
			}
		} finally {
			if (queue.idle && this.#queue === queue) {
				this.#queue = undefined;
			}
		}
	}

	/** The error for the caller. An interrupted call is not repeated: the tool may have done its work. */
	#unanswered(cause: unknown, method: string, timeout: number): unknown {
		const { alias } = this.#server;
		const isCall = method === "tools/call";
		switch (cause instanceof ServerError && cause.code) {
			case "server-disconnected": {
				const text = `${alias} disconnected during the call, which may have been carried out`;
				return new ServerError("server-disconnected", text, { cause });
			}
			case "timeout": {
				const text = `${alias} did not answer ${isCall ? "the call" : method} within ${timeout / 1_000} s`;
				return new ServerError("timeout", isCall ? `${text}. The call may have been carried out` : text, { cause });
			}
			default:
				return cause;
		}
	}

	/** Whether calls run. */
	get busy(): boolean {
		return this.#queue?.busy === true;
	}

	/** Settles when no call or other request is in progress. */
	async idle(): Promise<void> {
		while (this.#requests !== undefined) {
			await Promise.allSettled(this.#requests);
		}
	}

	/** Rejects the calls that wait, and every later one. */
	close(): void {
		this.#isClosed = true;
		this.#queue?.close(shuttingDown());
	}

	/** A result that does not match the tool's schema is the server's error. A failed call needs no structured result. */
	async #checkResult({ name, outputSchema }: ServerTool, result: OrInput<CallToolResult>): Promise<void> {
		if (outputSchema === undefined || isInputRequiredResult(result) || result.isError) {
			return;
		}
		const { structuredContent: value } = result;
		const problem =
			value === undefined
				? "structuredContent: is missing"
				: await this.#context.checker.check({ tool: name, what: "structuredContent", schema: outputSchema, value });
		if (problem !== undefined) {
			throw new ServerError("invalid-result", `the result of ${name} does not match its outputSchema: ${problem}`);
		}
	}

	async #track<Result>(request: Promise<Result>): Promise<Result> {
		this.#requests ??= new Set();
		this.#requests.add(request);
		try {
			return await request;
		} finally {
			this.#requests?.delete(request);
			if (this.#requests?.size === 0) {
				this.#requests = undefined;
			}
		}
	}

	/** A queue costs memory: a server has one only while there are calls to it. */
	#openQueue(): CallQueue {
		const { callsPerServer = 4, offlineWait = 10_000, callTimeout = CALL_TIMEOUT } = this.#context;
		this.#queue ??= new CallQueue(
			{
				concurrency: callsPerServer,
				capacity: MAX_WAITING,
				turnWait: callTimeout,
				offlineWait,
				offlineMessage: () =>
					`${this.#server.alias} is offline and did not come back within ${offlineWait / 1000} s; ` +
					`it was last seen at ${new Date(this.#server.lastSeen).toISOString()}. Nothing was sent to it.`,
			},
			this.#server.online ? this.#server.session : undefined,
		);
		return this.#queue;
	}
}

/** The arguments, at any depth of objects, with the defaults of required members that are missing. */
function withDefaults<Value>(schema: unknown, value: Value): Value {
	if (!isObject(schema) || !isObject(schema.properties) || !isObject(value)) {
		return value;
	}
	const required: unknown = schema.required;
	const members = Object.entries(schema.properties).flatMap(([name, property]) => {
		const isMissing = isObject(property) && value[name] === undefined && "default" in property;
		if (isMissing) {
			return Array.isArray(required) && required.includes(name) ? [[name, property.default] as const] : [];
		}
		const member = withDefaults(property, value[name]);
		return member === value[name] ? [] : [[name, member] as const];
	});
	return members.length === 0 ? value : { ...value, ...Object.fromEntries(members) };
}

function shuttingDown(): ServerError {
	return new ServerError("cancelled", "shutting down");
}
