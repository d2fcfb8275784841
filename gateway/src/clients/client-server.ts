import {
	type CallToolResult,
	McpServer,
	ProtocolError,
	ProtocolErrorCode,
	ResourceNotFoundError,
	type ServerContext,
} from "@modelcontextprotocol/server";
import { RateLimit } from "../rate-limit.js";
import type { Server } from "../servers/server.js";
import { ServerError } from "../servers/server-error.js";
import type { CallOptions } from "../servers/session.js";
import { GATEWAY_INFO } from "../version.js";
import type { Catalog, CatalogChange, FoundTool, ListName, StateChange } from "./catalog.js";
import { resultFor } from "./contents.js";
import { SERVER_ERROR } from "./json-rpc-error.js";
import { isFirstPage, pageOf } from "./pages.js";
import { STATE_TEMPLATE, stateContents, stateUri } from "./state-resource.js";

export interface ClientServerOptions {
	/** Who calls: for the record. */
	readonly principal: string;
	readonly catalog: Catalog;
	/** Milliseconds for which a client may keep a list (2026-07-28, `ttlMs`). Default 5,000. */
	readonly listTtl?: number;
	/** Is called when the client begins to read a list. */
	readonly onListed?: (list: ListName) => void;
	/** Is called with every call of a tool, before it is made. */
	readonly onCall?: (context: ServerContext) => Promise<void> | void;
}

/** Resources that one client may subscribe to. */
const MAX_SUBSCRIPTIONS = 10_000;

/** Progress notifications of a call in a second, and characters of one: what is not read by the client waits in memory. */
const MAX_PROGRESS_PER_SECOND = 20;
const MAX_PROGRESS_TEXT = 1_000;

/** The first revision in which wrong arguments are a failed call, so that a model can correct them (SEP-1303). */
const ARGUMENTS_ARE_TOOL_ERRORS = "2025-11-25";

/** The first revision in which the SDK itself keeps subscriptions, and drops updates that the client did not ask for. */
const SDK_FILTERS_UPDATES = "2026-07-28";

/** A client that declares this under `capabilities.experimental` gets devices' notifications as they come. */
const NOTIFICATIONS_CAPABILITY = "xs-mcp/notifications";

/** Members of `_meta` that are the gateway's own. */
const META = { error: "xs-mcp/error", device: "xs-mcp/device", notification: "xs-mcp/notification" } as const;

const INSTRUCTIONS = `These tools run on devices: microcontrollers with speakers, screens, sensors.
Where there are several devices, a tool's name begins with its device's name and two underscores.
If a device is offline, a call waits a moment for it, then fails and says when it was last seen.
If a device disconnects while a call is under way, the call may have been carried out.
The resource device://NAME/state tells whether a device is online, and its state.`;

/**
 * The MCP server that one client sees, or one request of it: serves a catalog in every revision, over whatever transport
 * it is connected to. Its tools come and go with the catalog, so they are served by handlers, not registered with the SDK.
 */
export class ClientServer extends McpServer {
	readonly #options: ClientServerOptions;
	readonly #subscriptions = new Set<string>();

	constructor(options: ClientServerOptions) {
		const { catalog, listTtl = 5_000 } = options;
		const hint = { ttlMs: listTtl, cacheScope: catalog.isPublic ? "public" : "private" } as const;
		super(GATEWAY_INFO, {
			instructions: INSTRUCTIONS,
			cacheHints: { "tools/list": hint, "resources/list": hint, "server/discover": hint },
		});
		this.#options = options;
		this.server.registerCapabilities({
			tools: { listChanged: true },
			resources: { listChanged: true, subscribe: true },
		});
		this.#serveTools();
		this.#serveResources();
	}

	/**
	 * The schema by which the SDK checks `Mcp-Param-*` headers (2026-07-28, "Custom Headers from Tool Parameters");
	 * undefined for a tool that is unknown: the call says so.
	 */
	override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
		return this.#options.catalog.findTool(name)?.tool.inputSchema;
	}

	/** Sends the notification of a change; of a state, only if the client has subscribed to it. */
	async announce(change: CatalogChange): Promise<void> {
		if (change.kind === "state") {
			await this.#announceState(change);
		} else if (change.kind === "tools") {
			await this.server.sendToolListChanged();
		} else {
			await this.server.sendResourceListChanged();
		}
	}

	#serveTools(): void {
		const { catalog, onListed } = this.#options;
		this.server.setRequestHandler("tools/list", ({ params }) => {
			if (isFirstPage(params?.cursor)) {
				onListed?.("tools");
			}
			const { items, nextCursor } = pageOf(catalog.tools, ({ name }) => name, params);
			return { tools: items, ...(nextCursor !== undefined && { nextCursor }) };
		});
		this.server.setRequestHandler("tools/call", async ({ params }, context) => {
			await this.#options.onCall?.(context);
			return await this.#call(params.name, params.arguments ?? {}, callOptions(context));
		});
	}

	async #call(name: string, args: object, options: CallOptions): Promise<CallToolResult> {
		const { principal, catalog } = this.#options;
		const found = catalog.findTool(name);
		if (found === undefined) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
		}
		try {
			const result = await found.server.call(principal, found.tool, args, options);
			return this.server.projectCallToolResult(resultFor(result, this.#revision), found.tool.outputSchema);
		} catch (error) {
			return answerFailure(error, found, this.#revision);
		}
	}

	/** The one that the client speaks. */
	get #revision(): string {
		return this.server.getNegotiatedProtocolVersion() ?? "";
	}

	#serveResources(): void {
		const { catalog, onListed } = this.#options;
		this.server.setRequestHandler("resources/list", ({ params }) => {
			if (isFirstPage(params?.cursor)) {
				onListed?.("resources");
			}
			const { items, nextCursor } = pageOf(catalog.resources, ({ uri }) => uri, params);
			return { resources: items, ...(nextCursor !== undefined && { nextCursor }) };
		});
		this.server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [STATE_TEMPLATE] }));
		this.server.setRequestHandler("resources/read", ({ params: { uri } }) => ({
			contents: [stateContents(this.#findState(uri))],
		}));
		this.server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
			this.#findState(uri);
			if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
				throw new ProtocolError(ProtocolErrorCode.InvalidParams, `at most ${MAX_SUBSCRIPTIONS} subscriptions`);
			}
			this.#subscriptions.add(uri);
			return {};
		});
		this.server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
			this.#subscriptions.delete(uri);
			return {};
		});
	}

	/** @throws ResourceNotFoundError -32602 with `data.uri`, as 2026-07-28 has it and the SDK sends in every revision */
	#findState(uri: string): Server {
		const server = this.#options.catalog.findState(uri);
		if (server === undefined) {
			throw new ResourceNotFoundError(uri);
		}
		return server;
	}

	async #announceState(change: StateChange): Promise<void> {
		const { server, cause } = change;
		if (this.#subscriptions.has(stateUri(server)) || this.#revision >= SDK_FILTERS_UPDATES) {
			await this.server.sendResourceUpdated(stateUpdate(change));
		}
		const { experimental } = this.server.getClientCapabilities() ?? {};
		if (cause !== undefined && experimental?.[NOTIFICATIONS_CAPABILITY] !== undefined) {
			const params = { ...cause.params, _meta: { [META.device]: server.alias } };
			await this.server.notification({ method: cause.method, params } as never);
		}
	}
}

/** `notifications/resources/updated` of a server's state. What the server itself said of the change is in `_meta`. */
export function stateUpdate({ server, cause }: StateChange) {
	return { uri: stateUri(server), ...(cause && { _meta: { [META.notification]: cause } }) };
}

/** Cancellation and progress, passed through. */
function callOptions({ mcpReq }: ServerContext): CallOptions {
	const { signal, _meta } = mcpReq;
	const progressToken = _meta?.progressToken;
	if (progressToken === undefined) {
		return { signal };
	}
	const rate = new RateLimit(MAX_PROGRESS_PER_SECOND);
	const onProgress = ({ progress, total, message }: Readonly<Record<string, unknown>>): void => {
		if (rate.take()) {
			const text = typeof message === "string" && { message: message.slice(0, MAX_PROGRESS_TEXT) };
			const params = { progressToken, progress, ...(total !== undefined && { total }), ...text };
			// A client that has disconnected needs no progress.
			mcpReq.notify({ method: "notifications/progress", params } as never).catch(() => {});
		}
	};
	return { signal, onProgress };
}

/**
 * MCP "Error Handling": an error that a model cannot correct is a JSON-RPC error; one that it should know is a failed call.
 */
function answerFailure(error: unknown, { server }: FoundTool, revision: string): CallToolResult {
	if (error instanceof ServerError) {
		if (error.code === "invalid-arguments" && revision < ARGUMENTS_ARE_TOOL_ERRORS) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
		}
		return failed(error.code, error.message);
	}
	if (!ProtocolError.isInstance(error)) {
		throw error;
	}
	if (error.code === ProtocolErrorCode.InvalidParams || error.code === ProtocolErrorCode.MethodNotFound) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, error.data);
	}
	// The C++ firmware's errors have no code of their own.
	const code = error.code === SERVER_ERROR ? "" : ` (${error.code})`;
	return failed("refused", `${server.alias} rejected the call: ${error.message}${code}`);
}

/** The code is for programs, the text for models. */
function failed(code: string, text: string): CallToolResult {
	return { content: [{ type: "text", text }], isError: true, _meta: { [META.error]: code } };
}
