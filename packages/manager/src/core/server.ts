import { type CallToolResult, isInputRequiredResult, type RequestId } from "@modelcontextprotocol/client";
import { DEVICE_EVENTS } from "xs-mcp-firmware/hardware/vocabulary";
import type { OrInput } from "./asking.js";
import {
	type Cancellable,
	type Capabilities,
	type Connection,
	listenersOf,
	type Request,
	type RequestContext,
	type ServerIdentity,
	type ServerInfo,
} from "./connection.js";
import type { Listed } from "./discovery.js";
import { type RetryPolicy, ServerError, type ServerErrorCode, waitForRetry } from "./errors.js";
import { LIST_NAMES, LISTS, type ListName, type Offers, type ServerTool } from "./offers.js";
import type { ServerRegistry } from "./registry.js";
import type { ResultOf } from "./results.js";
import { withDefaults } from "./schema-checker.js";
import { makeSubscriptions, type Subscriptions } from "./subscriptions.js";

/** The record of a server, kept while it is offline and across restarts. */
export interface ServerRecord {
	/** See {@link ServerIdentity.id}. */
	readonly id: string;
	/** How clients address it. No two servers share one. */
	readonly alias: string;
	/** The operator's name for it, in any script: "Living room". Absent: none. */
	readonly title?: string;
	/** The operator's tags: "upstairs". Absent: none. */
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
export interface DeviceEvent extends Notification {
	/** When it arrived, in milliseconds since 1970. */
	readonly time: number;
}

/** Lets devices upload files during calls, such as pictures to the gateway. */
export interface Uploads {
	/** A session starts. Returns the capabilities sent to the device in `initialize`. */
	begin(identity: ServerIdentity): Capabilities;
	/** A session has ended. */
	end(identity: ServerIdentity): void;
	/** The tools of a device as clients see them. */
	offered(tools: readonly ServerTool[]): readonly ServerTool[];
	/**
	 * Called when a call of a tool with an argument `url` or `question` starts. Resolves when the device may upload. Returns
	 * undefined if the tool uploads nothing.
	 *
	 * Rejects with {@link ServerError} "invalid-arguments" if the upload URL for the device is unknown.
	 */
	start(identity: ServerIdentity, tool: ServerTool, args: object): Promise<Upload> | undefined;
}

/** A call during which the device may upload. */
export interface Upload {
	/** The call's arguments, with the address of the upload. */
	readonly args: object;
	/** Called before the call is sent, with the id of its request. */
	sent?(id: RequestId): void;
	/** Returns the call's result with the uploaded files. */
	complete(result: OrInput<CallToolResult>): OrInput<CallToolResult>;
	/** Called when the call has ended, successfully or not. */
	end(): void;
}

/** How calls to servers are limited. */
export interface CallLimits {
	/** Milliseconds that a call waits for a server that is offline. Default 10,000. */
	readonly offlineWait?: number;
	/** Milliseconds that a call waits for its turn, and that the server then has to answer. Default 30,000. */
	readonly callTimeout?: number;
	/** Maximum concurrent calls of one server. Default 4. */
	readonly callsPerServer?: number;
}

/** A call that has ended. */
export interface CallRecord {
	/** Caller: a token's name, or "local". */
	readonly principal: string;
	readonly serverId: string;
	/** The server's own name of the tool. */
	readonly tool: string;
	/** Milliseconds, waiting included. */
	readonly duration: number;
	/** "failed": the tool reported an error. "rejected": the server answered with a JSON-RPC error. */
	readonly outcome: "ok" | "failed" | "rejected" | ServerErrorCode;
}

/** The content of a call that has ended. It may hold secrets, so logs and events omit it. */
export interface CallDetails {
	readonly server: Server;
	readonly tool: ServerTool;
	readonly args: object;
	/** Undefined if the call was rejected, or if the server wants input first. */
	readonly result: CallToolResult | undefined;
	/** The application that called, as it names itself. */
	readonly clientName: string | undefined;
}

/** The gateway's settings for a configured server. */
export interface ServerSettings extends CallLimits {
	/** The alias that it gets, unless another server has it. */
	readonly alias: string;
	/** Whether clients may see and call this tool. */
	readonly offers: (tool: string) => boolean;
	/** Connects to it for a call. If that rejects, the waiting calls fail too. */
	readonly wake: () => Promise<unknown>;
	/** How often calls are repeated. Default: never. */
	readonly retryPolicy?: RetryPolicy | undefined;
}

interface WaitingCall extends Cancellable {
	/** Ends the wait: the call has its turn, or fails. */
	readonly end: (outcome: Connection | ServerError) => void;
	timer: NodeJS.Timeout | undefined;
}

/** Calls that may wait for one server. */
const MAX_WAITING = 64;

/** Milliseconds that a call has by default. */
const CALL_TIMEOUT = 30_000;

const STATE_CHANGED = "notifications/state_changed";
const RESOURCE_UPDATED = "notifications/resources/updated";

/** Notifications of devices that are kept as {@link Server.event}. The state has its own property. */
const EVENTS = new Set(DEVICE_EVENTS.map(({ notification }) => notification).filter((each) => each !== STATE_CHANGED));

/** Characters of an event's params, as JSON. */
const MAX_EVENT = 1_024;

/** Characters of a device's state that are stored. */
const MAX_STATE = 64;

/**
 * An MCP server behind the gateway: a device or a configured server. While it is offline, clients still see it and calls wait.
 * Calls start in order, a few at a time. Not p-queue: a waiting call has another time limit while the server is offline.
 */
export class Server {
	readonly id: string;
	/** Whether it is a server of the gateway's configuration, not a device. */
	readonly configured: boolean;
	readonly registry: ServerRegistry;
	readonly #settings: ServerSettings | undefined;
	readonly #limits: CallLimits;
	/** Milliseconds that a call waits for its turn, and that the server then has to answer. */
	readonly #timeout: number;
	#record: ServerRecord | undefined;
	/** Its current connection, whether or not its tools are known yet. Set by {@link connect} and {@link disconnect} alone. */
	connection: Connection | undefined;
	/** Whether it can be called: it is connected, and its tools are known. Set by {@link discovered} and {@link disconnect} alone. */
	online = false;
	/** The last state that a device has reported: "idle", "speaking", … Undefined if it has reported none, and while it is offline. */
	state: string | undefined;
	/** The last notification of a button or sensor. Undefined before the first one, and while it is offline. */
	event: DeviceEvent | undefined;
	/** The lists that have yet to be read over its connection. */
	outdated: readonly ListName[] = LIST_NAMES;
	/** Whether any list was read over its connection. After that, a list that cannot be read stays as it was. */
	isListed = false;
	reading: Connection | undefined;
	/** The lists that could not be read over its connection, and why; their last content is kept. Undefined: none. */
	#failedLists: Map<ListName, string> | undefined;
	/** Undefined until a client follows a resource. */
	#subscriptions: Subscriptions | undefined;
	/** Number of calls and other requests in progress, including waiting ones. */
	#inProgress = 0;
	/** Called when one of them has ended; undefined until {@link idle} waits. */
	#onEnded: (() => void) | undefined;
	/** Number of calls and other requests that have their turn. */
	#running = 0;
	readonly #waiting = new Set<WaitingCall>();
	#isClosed = false;
	/** Undefined for all but devices of the family that are connected here. */
	#uploads: Uploads | undefined;

	/** @param settings of a configured server */
	constructor(id: string, registry: ServerRegistry, settings?: ServerSettings) {
		this.id = id;
		this.configured = settings !== undefined;
		this.registry = registry;
		this.#settings = settings;
		this.#limits = settings ?? registry.options;
		this.#timeout = this.#limits.callTimeout ?? CALL_TIMEOUT;
	}

	/** The resources that clients follow. */
	get subscriptions(): Subscriptions {
		if (this.#subscriptions === undefined) {
			this.#subscriptions = makeSubscriptions(
				(uri) => this.registry.emit("updated", this, uri),
				(message) => this.registry.emit("warning", message),
			);
			if (this.online && this.connection !== undefined) {
				this.#subscriptions.online(this.connection);
			}
		}
		return this.#subscriptions;
	}

	/** Whether it has ever been discovered. Until then, clients do not see it. */
	get known(): boolean {
		return this.#record !== undefined;
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

	get title(): string | undefined {
		return this.record.title;
	}

	get tags(): readonly string[] {
		return this.record.tags ?? [];
	}

	get board(): ServerInfo {
		return this.record.board;
	}

	get offers(): Offers {
		return this.record.offers;
	}

	get tools(): readonly ServerTool[] {
		return this.offers.tools;
	}

	get lastSeen(): number {
		return this.record.lastSeen;
	}

	/** Whether calls run. */
	get busy(): boolean {
		return this.#running > 0;
	}

	/** Problems of its lists: "resources/list: Internal error". Empty while it is offline. */
	get listProblems(): readonly string[] {
		return [...(this.#failedLists ?? [])].map(([list, problem]) => `${LISTS[list].method}: ${problem}`);
	}

	/** Notes which lists were read, or could not be. Returns the new problems. */
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

	update(record: ServerRecord): void {
		this.#record = record;
	}

	/** Takes over a new connection. The one before is over, although it may take a moment to close. */
	connect(connection: Connection): void {
		this.disconnect();
		this.connection = connection;
		this.#uploads = this.registry.uploadsOf(connection);
		connection.server = this;
		this.outdated = LIST_NAMES;
		this.isListed = false;
	}

	/** Sets its record, which was read or confirmed over its connection. From now on it can be called. */
	discovered(record: ServerRecord): void {
		this.#record = record;
		if (!this.online && this.connection !== undefined) {
			this.online = true;
			this.#subscriptions?.online(this.connection);
			this.#startNext();
			this.#limitWaits();
		}
	}

	/** Notes that its connection has ended. */
	disconnect(): void {
		this.connection = undefined;
		this.#failedLists = undefined;
		this.state = undefined;
		this.event = undefined;
		if (this.online) {
			this.online = false;
			this.#record = { ...this.record, lastSeen: Date.now() };
			this.#subscriptions?.offline();
			this.#limitWaits();
		}
	}

	/** Handles a notification from its connection, except progress and cancellation. */
	notified(connection: Connection, method: string, params: Notification["params"]): void {
		if (connection !== this.connection) {
			// Another gateway has the server by now, and has recorded the event.
			return;
		}
		const isState = this.#keepState(method, params);
		this.registry.emit("notification", this, method, params, isState);
		if (isState) {
			this.registry.emit("state", this, { method, params });
		}
		if (method === RESOURCE_UPDATED) {
			this.#subscriptions?.updated(params.uri);
		}
		const changed = LIST_NAMES.filter((list) => LISTS[list].changed === method);
		if (changed.length > 0) {
			this.outdated = [...new Set([...this.outdated, ...changed])];
			this.registry.listsChanged(this);
		}
	}

	/**
	 * Calls a tool: checks the arguments, waits while the server is offline, and keeps the order of the calls. A call is
	 * sent at most once. A tool that failed is a result with `isError`.
	 *
	 * Rejects with the SDK's ProtocolError when the server answers with an error, and with {@link ServerError} when it does
	 * not answer, or was not asked.
	 */
	async call(tool: ServerTool, args: object, context: RequestContext = {}): Promise<OrInput<CallToolResult>> {
		const start = performance.now();
		let outcome: CallRecord["outcome"] = "rejected";
		let answered: CallToolResult | undefined;
		this.#inProgress += 1;
		try {
			const params = { name: tool.name, arguments: await this.checkArguments(tool, args) };
			const request = { method: "tools/call", params, tool, timeout: this.#timeout };
			const isRepeatable = this.#settings?.retryPolicy !== undefined;
			const answer = await (isRepeatable ? this.#retry(request, context) : this.#inTurn(request, context));
			const result = answer as OrInput<CallToolResult>;
			if (tool.outputSchema !== undefined) {
				await this.#checkResult(tool.name, tool.outputSchema, result);
			}
			answered = isInputRequiredResult(result) ? undefined : result;
			outcome = "isError" in result && result.isError ? "failed" : "ok";
			return result;
		} catch (error) {
			outcome = error instanceof ServerError ? error.code : "rejected";
			throw error;
		} finally {
			const { principal = "local", clientName } = context;
			const duration = performance.now() - start;
			const record = { principal, serverId: this.id, tool: tool.name, duration, outcome };
			this.registry.emit("call", record, { server: this, tool, args, result: answered, clientName });
			this.#inProgress -= 1;
			this.#onEnded?.();
		}
	}

	/** Makes a request in its turn, without checking its arguments. Waits and rejects as {@link call} does. */
	async request<Method extends string>(
		request: Request<Method>,
		context: RequestContext = {},
	): Promise<ResultOf<Method>> {
		this.#inProgress += 1;
		try {
			const timed = { ...request, timeout: this.#timeout };
			return (await this.#inTurn(timed, context)) as ResultOf<Method>;
		} finally {
			this.#inProgress -= 1;
			this.#onEnded?.();
		}
	}

	/**
	 * Returns the arguments to send, with the defaults of required ones that a client has left out. Rejects with
	 * {@link ServerError} "invalid-arguments".
	 */
	async checkArguments({ name, inputSchema: schema }: ServerTool, given: object): Promise<object> {
		const { checker } = this.registry;
		const isValid = checker.validators.get(schema)?.(given) === true;
		const value = isValid ? given : withDefaults(schema, given);
		// Awaits valid arguments, too, so that a call does not overtake one whose schema is still being compiled.
		const problem = await (isValid ? undefined : checker.check({ tool: name, what: "arguments", schema, value }));
		if (problem !== undefined) {
			throw new ServerError("invalid-arguments", problem);
		}
		return value;
	}

	/** Settles when no call or other request is in progress. Only one caller may wait. */
	async idle(): Promise<void> {
		while (this.#inProgress > 0) {
			await new Promise<void>((resolve) => {
				this.#onEnded = resolve;
			});
		}
	}

	/** Rejects all waiting and later calls. */
	close(): void {
		this.#isClosed = true;
		this.#rejectWaiting(shuttingDown());
	}

	/** Stores the state or event of a notification. Returns whether the content of `device://ALIAS/state` has changed. */
	#keepState(method: string, params: Notification["params"]): boolean {
		if (method === STATE_CHANGED && typeof params.newState === "string") {
			this.state = params.newState.slice(0, MAX_STATE);
		} else if (!EVENTS.has(method)) {
			return false;
		} else if (JSON.stringify(params).length > MAX_EVENT) {
			this.registry.reject(`${this.id}: ${method} is too long (limit ${MAX_EVENT} characters)`);
			return false;
		} else {
			this.event = { method, params, time: Date.now() };
		}
		// Before a server is known it has no name, so clients cannot be notified.
		return this.known;
	}

	/** Makes a call, with the retries of a configured server's policy. */
	async #retry(request: Request, context: RequestContext): Promise<object> {
		for (let retries = 0; ; retries += 1) {
			try {
				return await this.#inTurn(request, context);
			} catch (error) {
				await waitForRetry(error, request.tool, this.#settings?.retryPolicy, retries, context.signal);
			}
		}
	}

	/** Makes a request in its turn, and once more if the connection to a configured server had ended before it was sent. */
	async #inTurn(request: Request, context: RequestContext, isRepeated = false): Promise<object> {
		if (this.#isClosed) {
			throw shuttingDown();
		}
		if (!this.online) {
			this.#settings?.wake().catch(({ message }: Error) => {
				this.#rejectWaiting(new ServerError("server-offline", `${message}. Nothing was sent to it.`));
			});
		}
		const free = this.#waiting.size === 0 ? this.#takeTurn() : undefined;
		const connection = free ?? (await this.#waitForTurn(context));
		let upload: Upload | undefined;
		try {
			const { tool, params } = request;
			const { url, question } = tool?.inputSchema.properties ?? {};
			if (tool !== undefined && this.#uploads !== undefined && (question ?? url) !== undefined) {
				const start = this.#uploads.start(connection.identity, tool, (params?.arguments ?? {}) as object);
				upload = start && (await start);
			}
			const sent = upload ? { ...request, params: { ...params, arguments: upload.args }, upload } : request;
			const result = await connection.request(sent, context);
			return upload?.complete(result as CallToolResult) ?? result;
		} catch (error) {
			const isUnsent = error instanceof ServerError && error.code === "server-offline";
			if (isRepeated || !isUnsent || !this.configured) {
				throw this.#unanswered(error, request.method, context.timeout ?? this.#timeout);
			}
		} finally {
			upload?.end();
			this.#running -= 1;
			if (this.#waiting.size > 0) {
				this.#startNext();
			}
		}
		return await this.#inTurn(request, context, true);
	}

	/** The error for the caller. An interrupted call is not repeated: the tool may have done its work. */
	#unanswered(cause: unknown, method: string, timeout: number): unknown {
		const isCall = method === "tools/call";
		switch (cause instanceof ServerError && cause.code) {
			case "server-disconnected": {
				const text = `${this.alias} disconnected during the call, which may have been carried out`;
				return new ServerError("server-disconnected", text, { cause });
			}
			case "timeout": {
				const text = `${this.alias} did not answer ${isCall ? "the call" : method} within ${timeout / 1_000} s`;
				return new ServerError("timeout", isCall ? `${text}. The call may have been carried out` : text, { cause });
			}
			default:
				return cause;
		}
	}

	/** A result that does not match the tool's schema is the server's error. A failed call needs no structured result. */
	async #checkResult(
		name: string,
		schema: Readonly<Record<string, unknown>>,
		result: OrInput<CallToolResult>,
	): Promise<void> {
		if (isInputRequiredResult(result) || result.isError) {
			return;
		}
		const { structuredContent: value } = result;
		const problem =
			value === undefined
				? "structuredContent: is missing"
				: await this.registry.checker.check({ tool: name, what: "structuredContent", schema, value });
		if (problem !== undefined) {
			throw new ServerError("invalid-result", `the result of ${name} does not match its outputSchema: ${problem}`);
		}
	}

	#takeTurn(): Connection | undefined {
		const { callsPerServer = 4 } = this.#limits;
		if (!this.online || !this.connection?.isOpen || this.#running >= callsPerServer) {
			return undefined;
		}
		this.#running += 1;
		return this.connection;
	}

	/** Rejects with ServerError "queue-full", "server-offline", or "cancelled" if the caller cancels before its turn. */
	async #waitForTurn(context: RequestContext): Promise<Connection> {
		if (this.#waiting.size >= MAX_WAITING) {
			throw new ServerError("queue-full", `too many calls are waiting (limit ${MAX_WAITING})`);
		}
		return await new Promise((resolve, reject) => {
			const awaited = context.awaited ?? listenersOf(context.signal);
			const end = (outcome: Connection | ServerError): void => {
				this.#waiting.delete(call);
				clearTimeout(call.timer);
				awaited?.delete(call);
				(outcome instanceof ServerError ? reject : resolve)(outcome as never);
			};
			const handleEvent = (): void => end(new ServerError("cancelled", "the call was cancelled"));
			const call: WaitingCall = { end, handleEvent, timer: undefined };
			this.#waiting.add(call);
			awaited?.add(call);
			this.#limitWait(call);
			if (context.isCancelled ?? context.signal?.aborted) {
				handleEvent();
			}
		});
	}

	/** Starts the calls that wait, in order of arrival, while turns are free. */
	#startNext(): void {
		for (const call of this.#waiting) {
			const connection = this.#takeTurn();
			if (connection === undefined) {
				return;
			}
			call.end(connection);
		}
	}

	/** Restarts the time limits of waiting calls, which differ while the server is offline. */
	#limitWaits(): void {
		for (const call of this.#waiting) {
			this.#limitWait(call);
		}
	}

	#limitWait(call: WaitingCall): void {
		const { offlineWait = 10_000 } = this.#limits;
		const isOffline = !this.online;
		const wait = isOffline ? offlineWait : this.#timeout;
		const expire = (): void => {
			const seen = `it was last seen at ${new Date(this.lastSeen).toISOString()}`;
			const text = isOffline
				? `${this.alias} is offline and did not come back within ${wait / 1_000} s; ${seen}`
				: `the call had no turn within ${wait / 1_000} s: the server is still busy with earlier ones (${this.#running})`;
			const code = isOffline ? "server-offline" : "queue-full";
			call.end(new ServerError(code, `${text}. Nothing was sent to it.`));
		};
		clearTimeout(call.timer);
		call.timer = setTimeout(expire, wait);
	}

	#rejectWaiting(error: ServerError): void {
		for (const call of this.#waiting) {
			call.end(error);
		}
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
