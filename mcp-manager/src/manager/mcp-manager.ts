import { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { CallToolResult, Prompt, ReadResourceResult, Resource } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import type { Offers } from "../core/offers.js";
import type { Server } from "../core/server.js";
import { textOf } from "../core/tool-results.js";
import type { ServerConfig } from "../upstreams/server-config.js";
import { expectComplete } from "./asking-person.js";
import { LocalTools } from "./local-tools.js";
import { ManagedServers } from "./managed-servers.js";
import { McpError, type McpToolResult, translated } from "./mcp-error.js";
import type {
	CallRequest,
	LocalTool,
	McpConnection,
	McpManagerEvents,
	McpManagerOptions,
	McpTool,
	RegisteredServer,
	Reloaded,
} from "./mcp-types.js";
import { expectKnownTypes, type NotificationFilter, notificationType } from "./notifications.js";
import { ResourceCache, readResource } from "./resource-cache.js";
import { ToolCalls } from "./tool-calls.js";
import { methodNameOf } from "./typed-tools.js";

/** Connects to MCP servers, and finds and calls their tools, prompts and resources. */
export class McpManager extends EventEmitter<McpManagerEvents> {
	readonly #servers: ManagedServers;
	readonly #calls: ToolCalls;
	readonly #localTools = new LocalTools((message) => this.emit("warning", message));
	readonly #cache: ResourceCache;
	readonly #parallel;

	constructor(options: McpManagerOptions = {}) {
		super();
		this.setMaxListeners(0);
		const { cacheTtl = 60_000, maxParallel = 10, debug = false } = options.options ?? {};
		if (debug) {
			this.on("debug", (server, line) => console.error(`${server}: ${line}`));
		}
		this.#servers = new ManagedServers(options, this);
		this.#calls = new ToolCalls(this.#servers, this.#localTools, {
			approve: options.approve,
			elicit: options.elicit,
			wantsProgress: () => this.listenerCount("notification") > 0,
		});
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
		const opened = this.#servers.open((...event) => this.#notified(...event));
		await (maxWait === undefined ? opened : Promise.race([opened, delay(maxWait, undefined, { ref: false })]));
	}

	/** The servers of the file, enabled or not. */
	get configs(): readonly ServerConfig[] {
		return this.#servers.configs;
	}

	/** The path of the servers file. */
	get path(): string | undefined {
		return this.#servers.path;
	}

	/** Every configured server, and every device. */
	listConnections(): McpConnection[] {
		return this.#servers.list();
	}

	/**
	 * Adds a server and connects to it.
	 *
	 * Rejects with McpError if it is not valid, if its id is in use, or if it cannot be connected: then it is not added.
	 *
	 * @param approve called first with the URL or command, unless the server is in the file
	 */
	async registerServer(input: RegisteredServer, approve?: (shown: string) => Promise<boolean>): Promise<McpConnection> {
		return await this.#servers.register(input, approve);
	}

	/**
	 * Settles when the tools of a server are known: connects to a lazy one, and waits for one that is connecting for the first
	 * time. Returns at once for any other.
	 *
	 * Rejects with McpError if it cannot be connected.
	 */
	async whenKnown(server: string): Promise<void> {
		await this.#servers.whenKnown(server);
	}

	/**
	 * Disconnects a configured server and forgets its tools, until it is registered again or the file is read again.
	 *
	 * Rejects with McpError if it is a device: only the device itself, or who runs the gateway, can keep it away.
	 *
	 * @returns its URL or command; undefined if the server does not exist
	 */
	async disconnect(id: string): Promise<string | undefined> {
		return await this.#servers.disconnect(id);
	}

	/** Disconnects every configured server, as {@link disconnect} does. Devices stay connected. */
	async disconnectAll(): Promise<void> {
		await this.#servers.disconnectAll();
	}

	/**
	 * Reads the file again: new servers are added, servers that are no longer in it are removed, and those that differ
	 * replaced. If the file as a whole cannot be read, nothing changes; if an entry is not valid, its server stays as it is.
	 */
	async reload(disconnectExisting = false): Promise<Reloaded> {
		return await this.#servers.reload(disconnectExisting);
	}

	/**
	 * Adds a tool of this program: {@link executeTool} calls it as it calls those of servers, but without approval. It comes before a
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
		return this.#calls.list(server);
	}

	/** The tools that the configuration has the host of an agent offer by themselves: `directTools`. */
	listDirectTools(): McpTool[] {
		return this.listTools().filter(({ server, name }) => this.#servers.isDirect(server, name));
	}

	/** The tool of this name; null if it does not exist, or if several servers have one and `server` is absent. */
	getTool(name: string, server?: string): McpTool | null {
		const found = this.listTools(server).filter((tool) => tool.name === name);
		return found.length === 1 ? (found[0] as McpTool) : null;
	}

	/**
	 * Calls a tool, and never rejects: an error is in the result. The arguments are checked first.
	 *
	 * @typeParam Data what the tool returns; only a local tool returns anything but an MCP result
	 */
	async executeTool<Data = CallToolResult>(
		name: string,
		params: object = {},
		request: CallRequest = {},
	): Promise<McpToolResult<Data>> {
		return await this.#calls.execute(name, params, request);
	}

	/**
	 * A server's tools as methods, for the interface that `xs-mcp-gateway types` makes: `find_symbol` is `findSymbol`. A method
	 * settles with the structured result or else the text, and rejects with McpError.
	 *
	 * @throws McpError if the server does not exist
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

	/** Calls tools, at most `maxParallel` at the same time. The results are in the order of the calls. */
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
	 * @throws McpError if the server does not exist
	 */
	listPrompts(server?: string): (Prompt & { readonly server: string })[] {
		return this.#listed("prompts", server);
	}

	/** The text of a prompt, for a slash command. Rejects with McpError. */
	async executePrompt(server: string, name: string, args: Readonly<Record<string, string>> = {}): Promise<string> {
		await this.whenKnown(server);
		const { messages } = await translated(async () =>
			expectComplete(await this.#servers.expect(server).calls.request("prompts/get", { name, arguments: args })),
		);
		return messages.map(({ content }) => textOf([content])).join("\n\n");
	}

	/**
	 * The resources of a server, or of all.
	 *
	 * @throws McpError if the server does not exist
	 */
	listResources(server?: string): (Resource & { readonly server: string })[] {
		return this.#listed("resources", server);
	}

	/**
	 * Reads a resource. Rejects with McpError.
	 *
	 * @param fresh whether to ignore the cache
	 */
	async readResource(name: string, uri: string, { fresh = false } = {}): Promise<ReadResourceResult> {
		await this.whenKnown(name);
		return await translated(() => readResource(this.#servers.expect(name), uri, this.#cache, fresh));
	}

	/**
	 * Calls a function with each notification that matches the filter.
	 *
	 * @returns a function that unsubscribes
	 * @throws McpError for a type that is not in {@link NOTIFICATION_TYPES}
	 */
	onNotification(
		filter: NotificationFilter,
		handler: (...event: McpManagerEvents["notification"]) => void,
	): () => void {
		expectKnownTypes(filter.types);
		const listener = (...event: McpManagerEvents["notification"]): void => {
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
		this.#cache.clear();
		await this.#localTools.close();
		await this.#servers.close();
	}

	#listed<List extends "prompts" | "resources">(list: List, name: string | undefined) {
		const servers = name === undefined ? this.#servers.registry.all : [this.#servers.expect(name)];
		return servers.flatMap((server) => {
			const items: readonly Offers[List][number][] = server.offers[list];
			return items.map((item) => ({ ...item, server: this.#servers.idOf(server) }));
		});
	}

	#notified(server: Server, method: string, params: Readonly<Record<string, unknown>>): void {
		this.#cache.notified(server, method, params);
		this.emit("notification", server.known ? this.#servers.idOf(server) : server.id, notificationType(method), params);
	}
}
