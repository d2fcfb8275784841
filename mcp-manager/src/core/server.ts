import { type CallToolResult, isInputRequiredResult, type RequestId } from "@modelcontextprotocol/client";
import type { OrInput } from "./asking.js";
import { CallQueue } from "./call-queue.js";
import type { Listed } from "./discovery.js";
import { ServerError, type ServerErrorCode } from "./errors.js";
import { LISTS, type ListName, type Offers, type ServerTool } from "./offers.js";
import type { Results } from "./results.js";
import type { SchemaChecker } from "./schema-checker.js";
import type { CallOptions, Capabilities, RequestOptions, ServerIdentity, ServerInfo, Session } from "./session.js";
import { Subscriptions } from "./subscriptions.js";

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

/** A call that has ended. */
export interface CallRecord {
	/** Who called: a token's name, or "local". */
	readonly principal: string;
	readonly serverId: string;
	/** As the server names it. */
	readonly tool: string;
	/** Milliseconds, waiting included. */
	readonly duration: number;
	/** "failed": the tool reported an error. "rejected": the server answered with a JSON-RPC error. */
	readonly outcome: "ok" | "failed" | "rejected" | ServerErrorCode;
}

/** What was said in a call that has ended. It may hold secrets: logs and events do without it. */
export interface CallDetails {
	readonly tool: ServerTool;
	readonly args: object;
	/** Undefined if the call was rejected, or if the server wants input first. */
	readonly result: CallToolResult | undefined;
	/** The application that called, as it names itself. */
	readonly clientName: string | undefined;
}

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

/** A request that is sent in its turn, once at most. */
interface QueuedRequest {
	readonly method: string;
	readonly params: Readonly<Record<string, unknown>>;
	readonly options: RequestOptions;
	/** Whether it is another gateway's: its parameters are not changed. */
	readonly isForwarded?: boolean;
}

/** What the servers of a registry share. */
export interface ServerContext extends CallLimits {
	readonly checker: SchemaChecker;
	/** For devices. Default: they cannot upload. */
	readonly uploads?: Uploads | undefined;
	readonly onCall: (record: CallRecord, details: CallDetails) => void;
	/** A resource that clients have subscribed to has been updated. */
	readonly onUpdated: (server: Server, uri: string) => void;
	readonly warn: (message: string) => void;
}

/** The gateway's settings for a configured server. */
export interface ServerSettings extends CallLimits {
	/** The alias that it gets, unless another server has it. */
	readonly alias: string;
	/** Connects to it for a call. If that rejects, the waiting calls fail too. */
	readonly wake: () => Promise<unknown>;
	/** Whether clients may see and call this tool. */
	readonly offers: (tool: string) => boolean;
	/** Makes a call, with the server's retry policy. */
	readonly retry: <T>(call: () => Promise<T>, tool: ServerTool, signal?: AbortSignal) => Promise<T>;
}

/** The record of a server, kept while it is offline and across restarts. */
export interface ServerRecord {
	/** See {@link ServerIdentity.id}. */
	readonly id: string;
	/** How clients address it. No two servers share one. */
	readonly alias: string;
	/** The operator's tags, shared with other servers: "upstairs". Absent: none. */
	readonly tags?: readonly string[];
	/** The server's own name and version: of a device, its board and firmware version. */
	readonly board: ServerInfo;
	readonly offers: Offers;
	/** When it was last seen, in milliseconds since 1970. While it is online: when it came online. */
	readonly lastSeen: number;
}

/** A server's notification. */
export interface Notification {
	readonly method: string;
	readonly params: Readonly<Record<string, unknown>>;
}

/** A notification of a button or a sensor. */
interface DeviceEvent extends Notification {
	/** When it arrived, in milliseconds since 1970. */
	readonly time: number;
}

/**
 * An MCP server behind the gateway: a device or a configured server. It outlives its sessions: while it is offline,
 * clients still see it and calls wait.
 */
export class Server {
	readonly id: string;
	readonly #context: ServerContext;
	readonly #settings: ServerSettings | undefined;
	#record: ServerRecord | undefined;
	#session: Session | undefined;
	#online = false;
	#state: string | undefined;
	/** The last notification of a button or sensor. Undefined before the first one, and while it is offline. */
	event: DeviceEvent | undefined;
	/** The lists that could not be read in its current session, and why: then the last ones known stand. Undefined: none. */
	#failedLists: Map<ListName, string> | undefined;
	#queue: CallQueue | undefined;
	/** Calls and other requests in progress. Undefined: none. */
	#requests: Set<Promise<unknown>> | undefined;
	/** Undefined until a client follows a resource. */
	#subscriptions: Subscriptions | undefined;
	#isClosed = false;

	/**
	 * @param record its stored record
	 * @param settings of a configured server
	 */
	constructor(id: string, context: ServerContext, record?: ServerRecord, settings?: ServerSettings) {
		this.id = id;
		// Devices share one object: there are thousands.
		this.#context = settings === undefined ? context : { ...context, ...settings };
		this.#record = record;
		this.#settings = settings;
	}

	/** The resources that clients follow. */
	get subscriptions(): Subscriptions {
		if (this.#subscriptions === undefined) {
			const { warn, onUpdated } = this.#context;
			this.#subscriptions = new Subscriptions({ warn, onUpdated: (uri) => onUpdated(this, uri) });
			if (this.#online && this.#session !== undefined) {
				this.#subscriptions.online(this.#session);
			}
		}
		return this.#subscriptions;
	}

	/** Whether it has ever been discovered. Until then, clients do not see it. */
	get known(): boolean {
		return this.#record !== undefined;
	}

	/** Whether the gateway's configuration names it: it is not a device. */
	get configured(): boolean {
		return this.#settings !== undefined;
	}

	/** Its record. Only for a known server. */
	get record(): ServerRecord {
		if (this.#record === undefined) {
			throw new TypeError(`${this.id} has not been discovered`);
		}
		return this.#record;
	}

	get alias(): string {
		return this.record.alias;
	}

	set alias(alias: string) {
		this.#record = { ...this.record, alias };
	}

	/** The operator's tags, shared with other devices. */
	get tags(): readonly string[] {
		return this.record.tags ?? [];
	}

	set tags(tags: readonly string[]) {
		this.#record = { ...this.record, tags };
	}

	get board(): ServerInfo {
		return this.record.board;
	}

	/** Its lists. */
	get offers(): Offers {
		return this.record.offers;
	}

	get tools(): readonly ServerTool[] {
		return this.offers.tools;
	}

	get lastSeen(): number {
		return this.record.lastSeen;
	}

	/** Its current session, whether or not its tools are known yet. */
	get session(): Session | undefined {
		return this.#session;
	}

	/** Whether it can be called: it is in a session, and its tools are known. */
	get online(): boolean {
		return this.#online;
	}

	/** The last state that a device has reported: "idle", "speaking", … Undefined if it has reported none, and while it is offline. */
	get state(): string | undefined {
		return this.#state;
	}

	set state(state: string) {
		this.#state = state;
	}

	/** What is wrong with its lists: "resources/list: Internal error". Empty while it is offline. */
	get listProblems(): readonly string[] {
		return [...(this.#failedLists ?? [])].map(([list, problem]) => `${LISTS[list].method}: ${problem}`);
	}

	/**
	 * Notes which lists were read, or could not be.
	 *
	 * @returns the new problems
	 */
	noteLists({ offers, failures }: Listed): string[] {
		for (const list of Object.keys(offers) as ListName[]) {
			this.#failedLists?.delete(list);
		}
		const before = new Set(this.listProblems);
		for (const [list, { message }] of failures) {
			this.#failedLists ??= new Map();
			this.#failedLists.set(list, message);
		}
		return this.listProblems.filter((problem) => !before.has(problem));
	}

	/** A session has begun. The one before it must have ended. */
	connect(session: Session): void {
		this.#session = session;
	}

	/** Its record was read or confirmed in its current session: it can be called. */
	discovered(record: ServerRecord): void {
		this.#record = record;
		if (!this.#online && this.#session !== undefined) {
			this.#online = true;
			this.#subscriptions?.online(this.#session);
			this.#queue?.online(this.#session);
		}
	}

	/** Its session has ended. */
	disconnect(): void {
		this.#session = undefined;
		this.#failedLists = undefined;
		this.#state = undefined;
		this.event = undefined;
		if (this.#online) {
			this.#online = false;
			this.#record = { ...this.record, lastSeen: Date.now() };
			this.#subscriptions?.offline();
			this.#queue?.offline();
		}
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
			await this.checkArguments(tool, args);
			const params = { name: tool.name, arguments: args };
			const request = { method: "tools/call", params, options: { ...options, tool } };
			const send = () => this.#inTurn<OrInput<CallToolResult>>(request);
			const result = await (this.#settings?.retry(send, tool, options.signal) ?? send());
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
				{ principal, serverId: this.id, tool: tool.name, duration, outcome },
				{ tool, args, result: answered, clientName: options.clientName },
			);
		}
	}

	/**
	 * Makes a request of another gateway's client in its turn. That gateway has checked the arguments, and records the call.
	 * Rejects as {@link call} does.
	 */
	async relay(method: string, params: Record<string, unknown>, options: CallOptions = {}): Promise<object> {
		const tool = method === "tools/call" ? this.tools.find(({ name }) => name === params.name) : undefined;
		return await this.#track(this.#inTurn({ method, params, options: { ...options, tool }, isForwarded: true }));
	}

	/** Rejects with {@link ServerError} "invalid-arguments" if a call of the tool would. */
	async checkArguments({ name, inputSchema }: ServerTool, args: object): Promise<void> {
		const problem = await this.#context.checker.check({
			tool: name,
			what: "arguments",
			schema: inputSchema,
			value: args,
		});
		if (problem !== undefined) {
			throw new ServerError("invalid-arguments", problem);
		}
	}

	/** Makes a request in its turn: waits while the server is offline, as calls do. Rejects as {@link call} does. */
	async request<Method extends keyof Results>(
		method: Method,
		params: Readonly<Record<string, unknown>>,
		options: RequestOptions = {},
	): Promise<Results[Method]> {
		return await this.#track(this.#inTurn<Results[Method]>({ method, params, options }));
	}

	async #inTurn<Result extends object>({ method, params, options, isForwarded }: QueuedRequest): Promise<Result> {
		if (this.#isClosed) {
			throw shuttingDown();
		}
		const { callTimeout = CALL_TIMEOUT } = this.#context;
		const queue = this.#openQueue();
		if (!this.#online) {
			this.#wake(queue);
		}
		try {
			const session = await queue.enter(options.signal);
			let upload: Upload | undefined;
			try {
				upload = await this.#startUpload(session, params, options.tool);
				const sent = { ...params, ...(upload && { arguments: upload.args }) };
				const onSent = upload?.sent && ((id: RequestId) => upload?.sent?.(id));
				const sending = { timeout: callTimeout, ...options, onSent };
				const result = isForwarded
					? await session.forward(method, sent, sending)
					: await session.request(method as keyof Results, sent, sending);
				return (upload?.complete(result as CallToolResult) ?? result) as Result;
			} catch (error) {
				throw this.#withConsequence(error);
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

	#wake(queue: CallQueue): void {
		this.#settings
			?.wake()
			.catch(({ message }: Error) =>
				queue.close(new ServerError("server-offline", `${message}. Nothing was sent to it.`)),
			);
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
					`${this.alias} is offline and did not come back within ${offlineWait / 1000} s; ` +
					`it was last seen at ${new Date(this.lastSeen).toISOString()}. Nothing was sent to it.`,
			},
			this.#online ? this.#session : undefined,
		);
		return this.#queue;
	}

	/** A device of another gateway uploads to that one, which adds the file to the result. */
	async #startUpload(
		{ identity }: Session,
		{ arguments: args = {} }: Readonly<Record<string, unknown>>,
		tool: ServerTool | undefined,
	): Promise<Upload | undefined> {
		return tool && identity.gateway === undefined
			? await this.#context.uploads?.start(identity, tool, args as object)
			: undefined;
	}

	/** The error of a request that was sent. An interrupted call is not repeated: the tool may have done its work. */
	#withConsequence(error: unknown): unknown {
		return error instanceof ServerError && error.code === "server-disconnected"
			? new ServerError(
					"server-disconnected",
					`${this.alias} disconnected during the call, which may have been carried out`,
					{ cause: error },
				)
			: error;
	}
}

function shuttingDown(): ServerError {
	return new ServerError("cancelled", "shutting down");
}

/** Whether a tool is only for users, not for the models in MCP clients. */
export function isUserOnly({ annotations }: ServerTool): boolean {
	const { audience } = (annotations ?? {}) as { audience?: unknown };
	return Array.isArray(audience) && audience.length === 1 && audience[0] === "user";
}
