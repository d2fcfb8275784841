import { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import {
	type CallToolResult,
	type Prompt,
	ProtocolError,
	ProtocolErrorCode,
	type ReadResourceResult,
	type Resource,
} from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import type { Offers, ServerTool } from "../core/offers.js";
import { ServerRegistry } from "../core/registry.js";
import { isUserOnly, type Server } from "../core/server.js";
import { textOf } from "../core/tool-results.js";
import { problemText } from "../upstreams/config-problem.js";
import type { ConfiguredServer, ConnectionStatus } from "../upstreams/configured-server.js";
import { ConfiguredServers } from "../upstreams/configured-servers.js";
import { LISTED_SERVER, matchesAny, type ServerConfig, serverConfig } from "../upstreams/server-config.js";
import { ServersFile } from "../upstreams/servers-file.js";
import { connectionOf, deviceConnectionOf } from "./connections.js";
import { LocalTools } from "./local-tools.js";
import { McpError, type McpToolResult, toMcpError } from "./mcp-error.js";
import type {
	Approve,
	CallRequest,
	LocalTool,
	McpConnection,
	McpManagerOptions,
	McpTool,
	RegisteredServer,
} from "./mcp-types.js";
import { expectKnownTypes, type NotificationFilter, notificationType } from "./notifications.js";
import { ResourceCache } from "./resource-cache.js";
import { expectComplete } from "./results.js";
import { methodNameOf } from "./typed-tools.js";

interface Events {
	/** A server sent a notification. `type` is "tools/list_changed" or the like: {@link NOTIFICATION_TYPES}. */
	notification: [server: string, type: string, params: Readonly<Record<string, unknown>>];
	/** The status of a configured server is different. */
	status: [server: string, status: ConnectionStatus, lastError: string];
	/** Something in the file is wrong. */
	warning: [message: string];
	/** The process of a server wrote a line to standard error. At most 20 lines in a second, of 1,000 characters. */
	debug: [server: string, line: string];
}

/** Connects to MCP servers, and finds and calls their tools, prompts and resources. */
export class McpManager extends EventEmitter<Events> {
	readonly #options: McpManagerOptions;
	readonly #file: ServersFile | undefined;
	readonly #cache: ResourceCache;
	readonly #parallel;
	readonly #localTools = new LocalTools((message) => this.emit("warning", message));
	/** Undefined before {@link initialize}. */
	#opened: { readonly registry: ServerRegistry; readonly servers: ConfiguredServers } | undefined;
	/** The servers of the file, also those that are not connected. */
	#fileConfigs = new Map<string, ServerConfig>();
	#reloading: Promise<unknown> = Promise.resolve();

	constructor(options: McpManagerOptions = {}) {
		super();
		this.setMaxListeners(0);
		this.#options = options;
		this.#file = options.file === undefined ? undefined : new ServersFile(options.file);
		const { cacheTtl = 60_000, maxParallel = 10, debug = false } = options.options ?? {};
		if (debug) {
			this.on("debug", (server, line) => console.error(`${server}: ${line}`));
		}
		this.#cache = new ResourceCache(cacheTtl);
		this.#parallel = pLimit(maxParallel);
	}

	/**
	 * Reads the file, connects to the servers that are enabled, and follows the file from now on. Settles when each server
	 * was tried once: one that cannot be reached does not stop the others.
	 *
	 * Rejects with McpError if `servers` has one that is not valid.
	 *
	 * @param maxWait milliseconds after which it settles even if servers have not answered; they go on connecting. Default: no limit
	 */
	async initialize(maxWait?: number): Promise<void> {
		const opened = this.#open();
		await (maxWait === undefined ? opened : Promise.race([opened, delay(maxWait, undefined, { ref: false })]));
	}

	async #open(): Promise<void> {
		const { registry, options, servers = [] } = this.#options;
		const opened = registry ?? (await ServerRegistry.open({}, (message) => this.emit("warning", message)));
		this.#opened = { registry: opened, servers: new ConfiguredServers(opened, options) };
		this.#servers.on("status", ({ id, lastError }, status) => this.emit("status", id, status, lastError));
		this.#servers.on("stderr", ({ id }, line) => this.emit("debug", id, line));
		this.#registry.on("notification", (server, method, params) => this.#notified(server, method, params));
		this.#registry.on("requestNotification", (server, method, params) => this.#notified(server, method, params));
		for (const server of servers) {
			this.#servers.add(this.#configOf(server));
		}
		if (this.#file === undefined) {
			await this.#servers.startEnabled();
			return;
		}
		this.#file.on("changed", () => void this.reload().catch(({ message }: Error) => this.emit("warning", message)));
		if (this.#options.isFileOptional && !this.#file.exists()) {
			await this.#servers.startEnabled();
			return;
		}
		await this.reload();
	}

	get #registry(): ServerRegistry {
		return this.#expectOpened().registry;
	}

	get #servers(): ConfiguredServers {
		return this.#expectOpened().servers;
	}

	#expectOpened(): { readonly registry: ServerRegistry; readonly servers: ConfiguredServers } {
		if (this.#opened === undefined) {
			throw new McpError("INVALID_REQUEST", "the manager is not initialized: call initialize() and wait for it first");
		}
		return this.#opened;
	}

	/** The servers of the file that are configured but not enabled, and all the others. */
	get configs(): readonly ServerConfig[] {
		return [...this.#fileConfigs.values()];
	}

	/** The file of servers. */
	get path(): string | undefined {
		return this.#file?.path;
	}

	/** Every configured server, and every device. */
	listConnections(): McpConnection[] {
		const configured = this.#servers.all.filter(
			({ status, server, isLazy }) => status !== "disconnected" || server !== undefined || isLazy,
		);
		const devices = this.#registry.all.filter(({ id }) => this.#servers.find(id) === undefined);
		return [...configured.map(connectionOf), ...devices.map(deviceConnectionOf)];
	}

	/**
	 * Adds a server and connects to it.
	 *
	 * Rejects with McpError if it is not valid, if its id is in use, or if it cannot be connected: then it is not added.
	 *
	 * @param approve is asked before, with the URL or command, unless the server is in the file
	 */
	async registerServer(input: RegisteredServer, approve?: (shown: string) => Promise<boolean>): Promise<McpConnection> {
		const config = this.#configOf(input);
		const existing = this.#servers.find(config.id);
		if (existing !== undefined && (existing.status !== "disconnected" || existing.server !== undefined)) {
			throw new McpError("INVALID_REQUEST", `Connection '${config.id}' already exists`);
		}
		if (approve !== undefined && config !== this.#fileConfigs.get(config.id) && !(await approve(config.shown))) {
			throw new McpError("PERMISSION_DENIED", `The connection to '${config.id}' was not approved`);
		}
		await this.#servers.remove(config.id);
		const server = this.#add(config);
		try {
			await server.connect();
		} catch (error) {
			await this.#servers.remove(config.id);
			throw toMcpError(error);
		}
		return connectionOf(server);
	}

	/**
	 * Settles when the tools of a server are known: connects to a lazy one, and waits for one that is connecting for the first
	 * time. Of any other there is nothing to wait for.
	 *
	 * Rejects with McpError if it cannot be connected.
	 */
	async whenKnown(server: string): Promise<void> {
		const configured = this.#servers.find(server);
		if (configured?.server === undefined && (configured?.isLazy || configured?.status === "connecting")) {
			await translated(() => configured.connect());
		}
	}

	/**
	 * Disconnects a configured server and forgets its tools, until it is registered again or the file is read again.
	 *
	 * @returns its URL or command; undefined if there is no such server
	 */
	async disconnect(id: string): Promise<string | undefined> {
		const server = this.#servers.find(id);
		await this.#servers.remove(id);
		return server?.config.shown;
	}

	/** Disconnects every configured server, as {@link disconnect} does. Devices stay connected. */
	async disconnectAll(): Promise<void> {
		await Promise.all(this.#servers.all.map(({ id }) => this.disconnect(id)));
	}

	/**
	 * Reads the file again: new servers are added, servers that are no longer in it are removed, and those that differ
	 * replaced. If the file as a whole cannot be read, nothing changes; if an entry is not valid, its server stays as it is.
	 */
	async reload(disconnectExisting = false): Promise<{ disconnected: number; problems: readonly string[] }> {
		const next = this.#reloading.then(() => this.#reload(disconnectExisting));
		this.#reloading = next.catch(() => {});
		const result = await next;
		// Another reload need not wait for a server that takes long to connect.
		await this.#servers.startEnabled();
		return result;
	}

	/**
	 * Adds a tool of this program: {@link executeTool} calls it as it calls those of servers, but asks nobody. It comes before a
	 * server's tool of the same name. {@link MANAGEMENT_TOOLS} do not show it.
	 *
	 * @returns a function that removes it
	 * @throws McpError if a tool of this name is already registered
	 */
	registerTool(tool: LocalTool): () => void {
		this.#localTools.add(tool);
		return () => this.#localTools.remove(tool.name);
	}

	/** The tools of a server, or of all and of this program. Tools that only people may call are left out. */
	listTools(server?: string): McpTool[] {
		const servers = server === undefined ? this.#registry.all : [this.#expectServer(server)];
		const local = server === undefined ? this.#localTools.list((name, params) => this.executeTool(name, params)) : [];
		return [
			...local,
			...servers.flatMap((each) =>
				each.tools.filter((tool) => !isUserOnly(tool)).map((tool) => this.#toolOf(each, tool)),
			),
		];
	}

	/** The tool of this name; null if there is none, or if several servers have one and none is named. */
	getTool(name: string, server?: string): McpTool | null {
		const found = this.listTools(server).filter((tool) => tool.name === name);
		return found.length === 1 ? (found[0] as McpTool) : null;
	}

	/**
	 * Calls a tool, and never rejects: an error is in the result. The arguments are checked before.
	 *
	 * @typeParam Data what the tool gives: only a local one gives anything but a result of MCP
	 */
	async executeTool<Data = CallToolResult>(
		name: string,
		params: object = {},
		request: CallRequest = {},
	): Promise<McpToolResult<Data>> {
		const start = performance.now();
		const metadata = () => ({ executionTime: performance.now() - start });
		const local = request.server === undefined ? this.#localTools.find(name) : undefined;
		let tool: ServerTool | undefined;
		try {
			if (local !== undefined) {
				const result = await this.#localTools.run(local, params);
				return { ...(result as McpToolResult<Data>), metadata: metadata() };
			}
			await (request.server && this.whenKnown(request.server));
			const server = this.#serverWith(name, request.server);
			tool = server.tools.find((each) => each.name === name && !isUserOnly(each));
			if (tool === undefined) {
				throw this.#notOffered(server, name);
			}
			const data = await this.#callTool(server, tool, params, request);
			return { success: true, data: data as Data, metadata: metadata() };
		} catch (error) {
			const { code, message, details, retryable } = toMcpError(error, tool);
			return { success: false, error: { code, message, details, retryable }, metadata: metadata() };
		}
	}

	/** Rejects if the tool has failed, too. */
	async #callTool(server: Server, tool: ServerTool, params: object, request: CallRequest): Promise<CallToolResult> {
		await server.checkArguments(tool, params);
		await this.#expectApproved(server, tool.name, params, request.approve ?? this.#options.approve);
		const options = {
			signal: request.signal,
			// A server sends progress only if it is asked to. Handlers get it with the other notifications.
			...(this.listenerCount("notification") > 0 && { onProgress: () => {} }),
		};
		const data = expectComplete(await server.call(request.principal ?? "local", tool, params, options));
		if (data.isError) {
			throw new McpError("EXECUTION_FAILED", textOf(data.content), { details: data });
		}
		return data;
	}

	/**
	 * A server's tools as methods, for the interface that `xs-mcp-gateway types` makes: `find_symbol` is `findSymbol`. A method
	 * settles with the structured result or else the text, and rejects with McpError.
	 *
	 * @throws McpError if there is no such server
	 */
	typed<Tools extends object>(server: string): Tools {
		const methods = this.listTools(server).map(({ name, execute }) => [
			methodNameOf(name),
			async (params?: object): Promise<unknown> => {
				const { data, error } = await execute(params ?? {});
				if (data === undefined) {
					throw new McpError(error?.code ?? "EXECUTION_FAILED", error?.message ?? "", error);
				}
				return data.structuredContent ?? textOf(data.content);
			},
		]);
		return Object.fromEntries(methods) as Tools;
	}

	/** Calls tools, at most `maxParallel` at the same time. The results are in the order of the calls, each on its own. */
	executeParallel(
		executions: readonly { readonly tool: string; readonly params?: object; readonly server?: string }[],
		request: Omit<CallRequest, "server"> = {},
	): Promise<McpToolResult[]> {
		return Promise.all(
			executions.map(({ tool, params, server }) =>
				this.#parallel(() => this.executeTool(tool, params, { ...request, server })),
			),
		);
	}

	/**
	 * The prompts of a server, or of all.
	 *
	 * @throws McpError if there is no such server
	 */
	listPrompts(server?: string): (Prompt & { readonly server: string })[] {
		return this.#listed("prompts", server);
	}

	/** The text of a prompt, for a slash command. Rejects with McpError. */
	async executePrompt(server: string, name: string, args: Readonly<Record<string, string>> = {}): Promise<string> {
		await this.whenKnown(server);
		const { messages } = await translated(async () =>
			expectComplete(
				await this.#expectServer(server).ask((session, options) => session.getPrompt(name, args, options)),
			),
		);
		return messages.map(({ content }) => textOf([content])).join("\n\n");
	}

	/**
	 * The resources of a server, or of all.
	 *
	 * @throws McpError if there is no such server
	 */
	listResources(server?: string): (Resource & { readonly server: string })[] {
		return this.#listed("resources", server);
	}

	/**
	 * Reads a resource. Rejects with McpError.
	 *
	 * @param fresh whether contents that are kept will not do
	 */
	async readResource(name: string, uri: string, { fresh = false } = {}): Promise<ReadResourceResult> {
		await this.whenKnown(name);
		return await translated(async () => {
			const server = this.#expectServer(name);
			const kept = fresh ? undefined : this.#cache.get(server, uri);
			if (kept !== undefined) {
				return kept;
			}
			const answer = await server
				.ask((session, options) => session.readResource(uri, options))
				.catch((error: unknown) => {
					throw isUnknownResource(error, server, uri)
						? new McpError("RESOURCE_NOT_FOUND", `Resource '${uri}' not found: ${(error as Error).message}`)
						: error;
				});
			const result = expectComplete(answer);
			this.#cache.set(server, uri, result);
			return result;
		});
	}

	/**
	 * Calls a function with each notification that fits the filter.
	 *
	 * @returns a function that ends it
	 * @throws McpError that names a type that is not one of {@link NOTIFICATION_TYPES}
	 */
	onNotification(filter: NotificationFilter, handler: (...event: Events["notification"]) => void): () => void {
		expectKnownTypes(filter.types);
		const listener = (...event: Events["notification"]): void => {
			const [server, type] = event;
			const isServer = filter.server === undefined || filter.server === server;
			if (isServer && (filter.types === undefined || filter.types.includes(type))) {
				handler(...event);
			}
		};
		this.on("notification", listener);
		return () => this.off("notification", listener);
	}

	/** Ends every connection to a configured server. A registry that was given stays open. */
	async close(): Promise<void> {
		this.#file?.close();
		this.#cache.clear();
		await this.#localTools.close();
		await this.#reloading;
		await this.#opened?.servers.close();
		if (this.#options.registry === undefined) {
			await this.#opened?.registry.close();
		}
	}

	/** Another caller may have registered a server with this id in the meantime. */
	#add(config: ServerConfig): ConfiguredServer {
		try {
			return this.#servers.add(config);
		} catch (error) {
			throw new McpError("INVALID_REQUEST", (error as Error).message);
		}
	}

	#configOf(input: RegisteredServer): ServerConfig {
		const { id, name, url, command } = input;
		const file = this.#fileConfigs.get(id ?? "");
		if (file !== undefined && url === undefined && command === undefined) {
			return file;
		}
		const [issue] = LISTED_SERVER.safeParse(input).error?.issues ?? [];
		if (issue !== undefined) {
			throw new McpError("INVALID_REQUEST", `${issue.path.join(".")}: ${issue.message}`);
		}
		try {
			return serverConfig({ ...input, id: id ?? name ?? "" }, this.#options.options);
		} catch (error) {
			throw new McpError("INVALID_REQUEST", (error as Error).message);
		}
	}

	/** Reads the file and takes over what it says, without connecting. */
	async #reload(disconnectExisting: boolean): Promise<{ disconnected: number; problems: readonly string[] }> {
		const file = this.#file;
		if (file === undefined) {
			throw new McpError("INVALID_REQUEST", "there is no MCP config file");
		}
		try {
			file.watch();
		} catch (error) {
			if (!this.#options.isFileOptional) {
				this.emit("warning", `changes of ${file.path} are not followed: ${(error as Error).message}`);
			}
		}
		const { configs, problems, invalidIds, isBroken } = await file.read();
		const texts = problems.map(problemText);
		for (const text of texts) {
			this.emit("warning", text);
		}
		if (isBroken) {
			return { disconnected: 0, problems: texts };
		}
		const before = this.#fileConfigs;
		// A server whose entry is invalid at the moment (it is being edited) stays as it is.
		const isEdited = ({ id }: ServerConfig): boolean => invalidIds.has(id) && configs.every((each) => each.id !== id);
		const wanted = [...configs, ...[...before.values()].filter(isEdited)];
		this.#fileConfigs = new Map(wanted.map((config) => [config.id, config]));
		const open = disconnectExisting ? this.#servers.all.filter(({ isOpen }) => isOpen) : [];
		await Promise.all((disconnectExisting ? this.#servers.all : []).map(({ id }) => this.#servers.remove(id)));
		// Servers that a person has connected stay, unless the file names them.
		const unusable = await this.#servers.apply(wanted, (id) => !before.has(id));
		for (const text of unusable) {
			this.emit("warning", text);
		}
		return { disconnected: open.length, problems: [...texts, ...unusable] };
	}

	#toolOf(server: Server, tool: ServerTool): McpTool {
		const { name, description = "", inputSchema, outputSchema, annotations } = tool;
		const id = this.#idOf(server);
		return {
			name,
			description,
			inputSchema,
			outputSchema,
			annotations,
			server: id,
			version: server.board.version,
			execute: (params) => this.executeTool(name, params, { server: id }),
		};
	}

	/** The id of a configured server, or the alias of a device. */
	#idOf({ id, alias }: Server): string {
		return this.#servers.find(id) === undefined ? alias : id;
	}

	/** A configured server, by its id, or else a device. The id of a server that is not connected may be a device's alias. */
	#expectServer(name: string): Server {
		const configured = this.#servers.find(name);
		const server = configured === undefined ? this.#registry.find(name) : configured.server;
		if (server !== undefined) {
			return server;
		}
		if (configured === undefined) {
			throw new McpError("CONNECTION_FAILED", `Connection '${name}' not found`);
		}
		const { status, lastError } = configured;
		const reason = lastError && `: ${lastError}`;
		throw new McpError("CONNECTION_FAILED", `Connection '${name}' is ${status}${reason}`, { retryable: true });
	}

	#serverWith(tool: string, name: string | undefined): Server {
		if (name !== undefined) {
			return this.#expectServer(name);
		}
		const found = this.#registry.all.filter(({ tools }) =>
			tools.some((each) => each.name === tool && !isUserOnly(each)),
		);
		if (found.length !== 1) {
			const ids = found.map((server) => this.#idOf(server)).join(", ");
			const message =
				found.length === 0 ? `Tool ${tool} not found${this.#failures()}` : `Tool ${tool} is on several servers: ${ids}`;
			throw new McpError("TOOL_NOT_FOUND", message);
		}
		return found[0] as Server;
	}

	/** Why servers have no tools: the one that is missing may be theirs. */
	#failures(): string {
		const failed = this.#servers.all.filter(({ server, lastError }) => server === undefined && lastError !== "");
		return failed.map(({ id, lastError }) => `; '${id}' is not connected: ${lastError}`).join("");
	}

	#notOffered(server: Server, tool: string): McpError {
		const { allow = ["*"], deny = [] } = this.#servers.find(server.id)?.config.tools ?? {};
		return matchesAny(deny, tool) || !matchesAny(allow, tool)
			? new McpError("PERMISSION_DENIED", `Tool '${tool}' is not allowed by the configuration of '${server.id}'`)
			: new McpError("TOOL_NOT_FOUND", `Tool '${tool}' not found on server`);
	}

	async #expectApproved(server: Server, tool: string, args: object, approve: Approve | undefined): Promise<void> {
		const { autoApprove = false } = this.#servers.find(server.id)?.config ?? {};
		const isApproved = typeof autoApprove === "boolean" ? autoApprove : matchesAny(autoApprove, tool);
		if (approve === undefined || isApproved) {
			return;
		}
		if (!(await approve({ server: this.#idOf(server), tool, args }))) {
			throw new McpError("PERMISSION_DENIED", `The call of '${tool}' was not approved`);
		}
	}

	#listed<List extends "prompts" | "resources">(list: List, name: string | undefined) {
		const servers = name === undefined ? this.#registry.all : [this.#expectServer(name)];
		return servers.flatMap((server) => {
			const items: readonly Offers[List][number][] = server.offers[list];
			return items.map((item) => ({ ...item, server: this.#idOf(server) }));
		});
	}

	#notified(server: Server, method: string, params: Readonly<Record<string, unknown>>): void {
		this.#cache.notified(server, method, params);
		this.emit("notification", server.known ? this.#idOf(server) : server.id, notificationType(method), params);
	}
}

/** Many servers answer −32602 for a resource that they do not have. If they list it, something else is wrong. */
function isUnknownResource(error: unknown, { offers }: Server, uri: string): boolean {
	return (
		ProtocolError.isInstance(error) &&
		error.code === ProtocolErrorCode.InvalidParams &&
		!offers.resources.some((resource) => resource.uri === uri)
	);
}

async function translated<T>(task: () => Promise<T>): Promise<T> {
	try {
		return await task();
	} catch (error) {
		throw toMcpError(error);
	}
}
