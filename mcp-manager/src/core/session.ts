import { EventEmitter } from "node:events";
import {
	Client,
	type ClientCapabilities,
	type Implementation,
	type RequestId,
	type RequestOptions,
	type ServerCapabilities,
} from "@modelcontextprotocol/client";
import * as z from "zod";
import { MANAGER_INFO } from "../version.js";
import { askingParams, type InputClient, REVISION_OF_STATELESS, relayedExtensions } from "./asking.js";
import { ChangeStream } from "./change-stream.js";
import { DeviceClient, type McpClient, type McpRequest } from "./device-client.js";
import { requestError, ServerError } from "./errors.js";
import { headerProblem } from "./header-parameters.js";
import { LISTS, type ListName, type ServerTool } from "./offers.js";
import { MAX_REQUEST_TIME, Questions } from "./questions.js";
import { readList } from "./read-list.js";
import { RESULTS, type Results } from "./results.js";
import type { AudioChannel, KnownServer, ServerIdentity, ServerInfo, ServerTransport } from "./server-transport.js";
import { type LogOptions, SessionLog } from "./session-log.js";

/** A program's capabilities in `initialize`, MCP extensions included. */
export type Capabilities = ClientCapabilities & Readonly<Record<string, unknown>>;

export interface CallOptions extends LogOptions {
	/** Milliseconds until the call has failed; progress starts them again. Default 30,000. */
	readonly timeout?: number | undefined;
	readonly signal?: AbortSignal | undefined;
	/** Is called with each progress notification of the call. */
	readonly onProgress?: ((progress: Readonly<Record<string, unknown>>) => void) | undefined;
	/** Is called with the id of the request, once it is sent. */
	readonly onSent?: ((id: RequestId) => void) | undefined;
	/** The client that a server may ask during the request. Default: none. */
	readonly inputClient?: InputClient | undefined;
	/** The application that calls, as it names itself: for the record. */
	readonly clientName?: string | undefined;
	/** The tool that is called, as listed: its schema may request arguments as HTTP headers (2026-07-28). */
	readonly tool?: ServerTool | undefined;
}

interface Events {
	/** A notification of the server, except progress and cancellation. */
	notification: [method: string, params: Readonly<Record<string, unknown>>];
	/** Progress of a request, or its cancellation by the server: for observers, the session takes care of both. */
	requestNotification: [method: string, params: Readonly<Record<string, unknown>>];
	/** A message was dropped because it is not valid. */
	invalid: [description: string];
	/** The session is over. */
	closed: [reason: string];
}

const REQUEST_TIMEOUT = 30_000;

/** Characters of a description of an invalid message, for the log. */
const MAX_DESCRIPTION = 200;

/** A session with a server over one connection, from its beginning to its end. Configured servers get the official SDK's client. */
export class Session extends EventEmitter<Events> {
	readonly #transport: ServerTransport;
	readonly #capabilities: Capabilities;
	readonly #info: Implementation;
	/** Undefined before the first request to a server that is known: there may be thousands that nobody calls. */
	#client: McpClient | undefined;
	/** The SDK's client, if the revision is one without sessions: 2026-07-28 and later. */
	#modern: Client | undefined;
	#opened: Promise<void> | undefined;
	/** Undefined if the server reports changes without a stream of their own: before 2026-07-28. */
	#changes: ChangeStream | undefined;
	/** Undefined if the server gets no answers. */
	#questions: Questions | undefined;
	readonly #log = new SessionLog((level) => {
		const request = { method: "logging/setLevel", params: { level } };
		// A server that rejects this uses its own level.
		this.#connected.request(request, z.looseObject({}), { timeout: REQUEST_TIMEOUT }).catch(() => {});
	});
	/** The id of the request that was sent last. */
	#sentId: RequestId | undefined;
	#closed = false;

	/**
	 * Takes over a connection. {@link initialize} comes next, at once: until then, notifications are lost. A server that is known
	 * needs none.
	 *
	 * @param capabilities the capabilities sent in `initialize`
	 * @param info the name and version sent
	 */
	constructor(transport: ServerTransport, capabilities: Capabilities = {}, info: Implementation = MANAGER_INFO) {
		super();
		this.#transport = transport;
		this.#capabilities = capabilities;
		this.#info = info;
		transport.onmessage = (message) => {
			if (!("method" in message)) {
				return;
			}
			const { method, params = {} } = message;
			if (method === "notifications/progress" || method === "notifications/cancelled") {
				this.emit("requestNotification", method, params);
			} else if (this.#client === undefined && !("id" in message)) {
				this.#notified(method, params);
			}
		};
		transport.onclose = () => {
			this.#closed = true;
			this.#changes?.close();
			this.emit("closed", transport.closeReason);
		};
		transport.onsend = (message) => {
			this.#sentId = "id" in message ? message.id : undefined;
		};
	}

	get identity(): ServerIdentity {
		return this.#transport.identity;
	}

	/** The answer without asking the server; undefined if it is not known. */
	get known(): KnownServer | undefined {
		return this.#transport.known;
	}

	/** Whether the connection is open. */
	get connected(): boolean {
		return !this.#closed;
	}

	/**
	 * MCP's handshake: `initialize`, or since 2026-07-28 `server/discover`, as {@link ServerTransport.negotiation} says. If it
	 * fails, the connection is closed.
	 *
	 * Rejects with {@link ServerError} or the SDK's ProtocolError.
	 */
	async initialize(): Promise<ServerInfo> {
		const client = this.#open();
		await this.#send("initialize", {}, (options) => client.connect(this.#transport, options));
		if (client instanceof Client && client.getProtocolEra() === "modern") {
			this.#modern = client;
			this.#changes = new ChangeStream(client, () => {
				// Changes may have been missed: everything that can change is reported as changed.
				for (const method of new Set(Object.values(LISTS).map(({ changed }) => changed))) {
					this.emit("notification", method, {});
				}
			});
			await this.#changes.start();
		}
		// Since 2026-07-28 `serverInfo` is optional.
		const { name, version } = client.getServerVersion() ?? { name: this.identity.id, version: "" };
		return { name, version };
	}

	/** The revision that the two sides agreed on; undefined before the handshake. */
	get revision(): string | undefined {
		return this.known?.revision ?? this.#client?.getNegotiatedProtocolVersion();
	}

	/** Whether the server declares a capability, in `initialize`. */
	declares(capability: "resources" | "prompts" | "completions" | "logging" | "tools"): boolean {
		return this.capabilities[capability] !== undefined;
	}

	/** The server's capabilities, as it declared them. */
	get capabilities(): ServerCapabilities {
		return this.known?.capabilities ?? this.#client?.getServerCapabilities() ?? {};
	}

	/** The extensions of the server that can be used through a gateway, as a capability. */
	get extensions(): ReturnType<typeof relayedExtensions> {
		return relayedExtensions(this.capabilities.extensions);
	}

	/** Whether updates of the server's resources can be subscribed to. */
	get canSubscribe(): boolean {
		return this.capabilities.resources?.subscribe === true;
	}

	/** Whether the server accepts stateless requests (2026-07-28): it may then ask the client while it serves them. */
	get isStateless(): boolean {
		const { stateless } = this.capabilities.experimental ?? {};
		const { supportedVersions: versions } = (stateless ?? {}) as { supportedVersions?: unknown };
		return this.#modern !== undefined || (Array.isArray(versions) && versions.includes(REVISION_OF_STATELESS));
	}

	/** A whole list, whose items are not checked. Rejects as {@link request} and {@link readList} do. */
	async list(
		list: ListName,
		{ withUserTools = false, signal }: { withUserTools?: boolean; signal?: AbortSignal } = {},
	): Promise<unknown[]> {
		const { method, page } = LISTS[list];
		return await readList(list, (cursor) => {
			// Devices get the request of their family's protocol, others MCP's.
			const params = this.identity.configured
				? { ...(cursor !== "" && { cursor }) }
				: { cursor, ...(withUserTools && { withUserTools }) };
			return this.#send(method, { signal }, (options) => this.#connected.request({ method, params }, page, options));
		});
	}

	/** Why an item of a list cannot be offered over this connection; undefined if it can. */
	problemOf(list: ListName, item: Readonly<Record<string, unknown>>): string | undefined {
		const sendsHeaders = this.#modern !== undefined && this.identity.transport === "http";
		return list === "tools" && sendsHeaders ? headerProblem(item.inputSchema) : undefined;
	}

	/**
	 * Makes a request of a client, during which the server may log, and ask that client. A tool that failed is a result with
	 * `isError`.
	 *
	 * Rejects with the SDK's ProtocolError when the server answers with an error, and with ServerError when there is no
	 * valid answer.
	 */
	async request<Method extends keyof Results>(
		method: Method,
		params: Readonly<Record<string, unknown>>,
		options: CallOptions = {},
	): Promise<Results[Method]> {
		const schema: z.ZodType<Results[Method]> = RESULTS[method];
		const isAsking = this.isStateless && method !== "completion/complete";
		const request = {
			method,
			params: isAsking ? { ...params, ...askingParams(options, this.#modern !== undefined) } : params,
		};
		return await this.#send(method, options, async (sdkOptions) => {
			if (!this.isStateless && this.declares("logging")) {
				this.#log.want(options.logLevel);
			}
			const send = (final: RequestOptions) => this.#connected.request(request, schema, final);
			const answer = this.#modern
				? this.#modernRequest(this.#modern, request, schema, { ...sdkOptions, allowInputRequired: true }, options.tool)
				: (this.#questions?.request(options.inputClient, sdkOptions, send) ?? send(sdkOptions));
			this.#log.begin(this.#sentId, options, answer);
			this.#tellSent(options);
			return await answer;
		});
	}

	/** Unlike `request`, the SDK's `callTool` sends the headers that a tool wants of its arguments. */
	async #modernRequest<Result>(
		client: Client,
		{ method, params }: { readonly method: string; readonly params: Readonly<Record<string, unknown>> },
		schema: z.ZodType<Result>,
		options: RequestOptions & { readonly allowInputRequired: true },
		tool: ServerTool | undefined,
	): Promise<Result> {
		if (method !== "tools/call") {
			return await client.request({ method, params }, schema, options);
		}
		const { name } = params as { name: string };
		const toolDefinition = { name, inputSchema: tool?.inputSchema ?? { type: "object" as const } };
		return schema.parse(await client.callTool({ ...params, name }, { ...options, toolDefinition }));
	}

	/** Subscribes to updates of a resource, or unsubscribes. Rejects as {@link request} does. */
	async subscribe(uri: string, wanted = true): Promise<void> {
		const older = wanted ? "resources/subscribe" : "resources/unsubscribe";
		const method = this.#changes ? "subscriptions/listen" : older;
		await this.#send(method, {}, async (options) => {
			const request = { method, params: { uri } };
			await (this.#changes?.follow(uri, wanted) ?? this.#connected.request(request, z.looseObject({}), options));
		});
	}

	/** Makes the request of another gateway's client, whose parameters it does not change. Rejects as {@link request} does. */
	async forward(method: string, params: Record<string, unknown>, options: CallOptions = {}): Promise<object> {
		const schema: z.ZodType<object> = RESULTS[method as keyof typeof RESULTS] ?? z.looseObject({});
		return await this.#send(method, options, async (requestOptions) => {
			const answer = this.#connected.request({ method, params }, schema, requestOptions);
			this.#tellSent(options);
			return await answer;
		});
	}

	#tellSent({ onSent }: CallOptions): void {
		if (this.#sentId !== undefined) {
			onSent?.(this.#sentId);
		}
	}

	/** Settles when the server has answered, and everything that it sent earlier has arrived. Rejects after `timeout` ms. */
	async ping(timeout = REQUEST_TIMEOUT): Promise<void> {
		// 2026-07-28 has no ping.
		await this.#send("ping", { timeout }, (options) =>
			this.#modern ? this.#modern.discover(options) : this.#connected.ping(options),
		);
	}

	/** Sends a message besides MCP, if the transport has such messages. */
	sendMessage(message: { readonly type: string; readonly [member: string]: unknown }): void {
		this.#transport.sendMessage?.(message);
	}

	/** The way to a device's speaker and from its microphone; undefined if it has none for packets of Opus. */
	get audio(): AudioChannel | undefined {
		return this.#transport.audio;
	}

	/** Ends the session. */
	close(reason?: string): void {
		void this.#transport.close(reason);
	}

	#open(): McpClient {
		const capabilities = this.#capabilities;
		let client: McpClient;
		if (this.identity.configured) {
			const { negotiation: mode = "legacy" } = this.#transport;
			const sdkClient = new Client(this.#info, { capabilities, versionNegotiation: { mode } });
			this.#questions = Questions.open(sdkClient, capabilities);
			client = sdkClient;
		} else {
			client = new DeviceClient(this.#info, capabilities);
		}
		client.onerror = ({ message }) => this.emit("invalid", message.slice(0, MAX_DESCRIPTION));
		client.fallbackNotificationHandler = async ({ method, params = {} }: McpRequest) => this.#notified(method, params);
		this.#client = client;
		return client;
	}

	/** The client, once it is connected. */
	get #connected(): McpClient {
		if (this.#client === undefined) {
			throw new TypeError("the session has not been initialized");
		}
		return this.#client;
	}

	#notified(method: string, params: Readonly<Record<string, unknown>>): void {
		if (method === "notifications/message") {
			this.#log.received(params);
		}
		this.emit("notification", method, params);
	}

	/** Sends a request, and turns the SDK's errors into those of this session. */
	async #send<T>(
		method: string,
		{ timeout = REQUEST_TIMEOUT, signal, onProgress }: CallOptions,
		request: (options: RequestOptions & { readonly timeout: number }) => Promise<T>,
	): Promise<T> {
		if (signal?.aborted) {
			throw new ServerError("cancelled", `${method} was cancelled`);
		}
		const progress = onProgress && {
			onprogress: onProgress,
			resetTimeoutOnProgress: true,
			maxTotalTimeout: MAX_REQUEST_TIME,
		};
		try {
			if (this.known !== undefined) {
				this.#opened ??= this.#open().connect(this.#transport);
				await this.#opened;
			}
			return await request({ timeout, ...(signal && { signal }), ...progress });
		} catch (error) {
			const over = this.#closed ? `${this.identity.id}: ${this.#transport.closeReason}` : undefined;
			throw requestError(error as Error, { method, timeout, signal, over });
		}
	}
}
