import { EventEmitter } from "node:events";
import { existsSync, type StatWatcher, unwatchFile, watchFile } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { CallToolResult, Prompt, ReadResourceResult, Resource } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import { describeIssues, McpError, toMcpError, translated } from "../core/errors.js";
import { isSimilar, portable } from "../core/names.js";
import type { Offers, ServerTool } from "../core/offers.js";
import { textOf } from "../core/received.js";
import { ServerRegistry } from "../core/registry.js";
import { isUserOnly, type Server } from "../core/server.js";
import {
	type ConfiguredServer,
	ConfiguredServers,
	problemText,
	readServersFile,
} from "../upstreams/configured-servers.js";
import { LISTED_SERVER, matchesAny, type ServerConfig, serverConfig } from "../upstreams/server-config.js";
import {
	type CallRequest,
	type LocalTool,
	type McpConnection,
	type McpManagerEvents,
	type McpManagerOptions,
	type McpTool,
	type McpToolResult,
	notificationType,
	type RegisteredServer,
	type Reloaded,
} from "./mcp-types.js";
import { ELICITATION, expectComplete, makeResourceCache, withQuestions } from "./resource-cache.js";
import { methodNameOf } from "./typed-tools.js";

/** Milliseconds between checks whether the file has changed. */
const POLL_TIME = 250;

/** Milliseconds without a change before the file is read: long enough for a check that finds none. */
const SETTLE_TIME = 400;

/** Names of tools in the error for one that is not known. */
const MAX_SUGGESTED = 3;

/** Connects to MCP servers, and finds and calls their tools, prompts and resources. */
export class McpManager extends EventEmitter<McpManagerEvents> {
	readonly #options: McpManagerOptions;
	/** Watches the file after the first read. */
	#watcher: StatWatcher | undefined;
	/** Runs while the file may still be changing: programs write files in parts. */
	#settling: NodeJS.Timeout | undefined;
	readonly #opened: ServerRegistry;
	#isInitialized = false;
	readonly #servers: ConfiguredServers;
	/** The servers of the file, connected or not. */
	#fileConfigs = new Map<string, ServerConfig>();
	/** Runs one reload at a time. */
	readonly #inTurn = pLimit(1);
	/** The problems found at the last read of the file. */
	#problems: readonly string[] = [];
	readonly #localTools = new Map<string, LocalTool>();
	readonly #cache;
	readonly #parallel;

	readonly #onChanged = (): void => void this.emit("changed");

	readonly #onFileChanged = (): void => {
		const reload = () => this.reload().catch(({ message }: Error) => this.emit("warning", message));
		clearTimeout(this.#settling);
		this.#settling = setTimeout(reload, SETTLE_TIME).unref();
	};

	constructor(options: McpManagerOptions = {}) {
		super();
		this.setMaxListeners(0);
		this.#options = options;
		const relayed = options.elicit && { relayed: ELICITATION };
		this.#opened = options.registry ?? new ServerRegistry(relayed, (message) => this.emit("warning", message));
		this.#servers = new ConfiguredServers(this.#opened, options.options);
		this.#servers.on("status", ({ id, lastError }, status) => this.emit("status", id, status, lastError));
		this.#servers.on("stderr", ({ id }, line) => this.emit("debug", id, line));
		this.#opened.on("notification", (server, method, params) => this.#onNotification(server, method, params));
		this.#opened.on("requestNotification", (...event) => this.#onNotification(...event));
		this.#opened.on("changed", this.#onChanged);
		const { cacheTtl = 60_000, maxParallel = 10, debug = false } = options.options ?? {};
		if (debug) {
			this.on("debug", (server, line) => console.error(`${server}: ${line}`));
		}
		this.#cache = makeResourceCache(cacheTtl);
		this.#parallel = pLimit(maxParallel);
	}

	/**
	 * Reads the file, connects to the enabled servers, and watches the file from now on. Settles when each server was
	 * tried once: an unreachable one does not stop the others.
	 *
	 * Rejects with McpError if `servers` has one that is not valid.
	 *
	 * @param maxWait milliseconds after which it settles even if servers have not answered; their connection attempts continue. Default: no limit
	 */
	async initialize(maxWait?: number): Promise<void> {
		this.#isInitialized = true;
		const { servers = [], file, isFileOptional } = this.#options;
		for (const server of servers) {
			this.#servers.add(this.#readConfig(server));
		}
		const hasNoFile = file === undefined || (isFileOptional && !existsSync(file));
		const started = hasNoFile ? this.#servers.startEnabled() : this.reload();
		await (maxWait === undefined ? started : Promise.race([started, delay(maxWait, undefined, { ref: false })]));
	}

	/** @throws McpError before {@link initialize} */
	get #registry(): ServerRegistry {
		if (!this.#isInitialized) {
			throw new McpError("INVALID_REQUEST", "the manager is not initialized: call initialize() and wait for it first");
		}
		return this.#opened;
	}

	/** The servers of the file, enabled or not. */
	get configs(): readonly ServerConfig[] {
		return [...this.#fileConfigs.values()];
	}

	get path(): string | undefined {
		return this.#options.file;
	}

	/** Every configured server, and every device. */
	listConnections(): McpConnection[] {
		const configured = this.#servers.all.filter(
			({ status, server, isLazy }) => status !== "disconnected" || server !== undefined || isLazy,
		);
		const devices = this.#registry.all.filter(({ id }) => this.#servers.find(id) === undefined);
		const ofDevices = devices.map((device): McpConnection => {
			const { alias: id, connection, online, board, listProblems } = device;
			const transport = connection?.identity.transport ?? "device";
			const status = online ? "connected" : "disconnected";
			const listed = { id, url: transport, transport, status, tools: offeredTools(device).length } as const;
			return { ...listed, serverInfo: board, lastError: "", problems: listProblems };
		});
		return [...configured.map(connectionOf), ...ofDevices];
	}

	/**
	 * Adds a server and connects to it.
	 *
	 * Rejects with McpError if it is not valid, if its id is in use, or if it cannot be connected: then it is not added.
	 *
	 * @param approve called first with the URL or command, unless the server is in the file
	 */
	async registerServer(input: RegisteredServer, approve?: (shown: string) => Promise<boolean>): Promise<McpConnection> {
		const config = this.#readConfig(input);
		const existing = this.#servers.find(config.id);
		if (existing !== undefined && (existing.status !== "disconnected" || existing.server !== undefined)) {
			throw new McpError("INVALID_REQUEST", `Connection '${config.id}' already exists`);
		}
		if (approve !== undefined && config !== this.#fileConfigs.get(config.id) && !(await approve(config.shown))) {
			throw new McpError("PERMISSION_DENIED", `The connection to '${config.id}' was not approved`);
		}
		await this.#servers.remove(config.id);
		const server = await translated(async () => this.#servers.add(config));
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
	 * time. Returns at once for any other.
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
	 * Rejects with McpError if it is a device: only the device itself or the gateway's operator can keep it offline.
	 *
	 * @returns its URL or command; undefined if the server does not exist
	 */
	async disconnect(id: string): Promise<string | undefined> {
		const server = this.#servers.find(id);
		if (server === undefined && this.#registry.find(id) !== undefined) {
			const message = `'${id}' is a device, which connects by itself: switch it off, or remove its token at the gateway`;
			throw new McpError("INVALID_REQUEST", message);
		}
		await this.#servers.remove(id);
		return server?.config.shown;
	}

	/**
	 * Reads the file again: new servers are added, missing ones removed, and changed ones replaced. If the file as a
	 * whole cannot be read, nothing changes; if an entry is invalid, its server is kept unchanged.
	 */
	async reload(disconnectExisting = false): Promise<Reloaded> {
		const result = await this.#inTurn(() => this.#reload(disconnectExisting));
		// Another reload need not wait for a server that takes long to connect.
		await this.#servers.startEnabled();
		return result;
	}

	/**
	 * Adds a tool of this program: {@link executeTool} calls it like a server's tool, but without approval. It precedes
	 * a server's tool of the same name. {@link MANAGEMENT_TOOLS} do not show it.
	 *
	 * @returns a function that removes it
	 * @throws McpError if a tool of this name is already registered
	 */
	registerTool(tool: LocalTool): () => void {
		if (this.#localTools.has(tool.name)) {
			throw new McpError("INVALID_REQUEST", `Tool '${tool.name}' is already registered`);
		}
		this.#localTools.set(tool.name, tool);
		return () => void this.#localTools.delete(tool.name);
	}

	/** The tools of one server, or of all servers and this program. User-only tools are left out. */
	listTools(server?: string): McpTool[] {
		const servers = server === undefined ? this.#registry.all : [this.#expect(server)];
		const local = server === undefined ? [...this.#localTools.values()] : [];
		return [
			...local.map((tool) => this.#listedTool(tool, "", tool.version)),
			...servers.flatMap((each) =>
				offeredTools(each).map((tool) => this.#listedTool(tool, this.#idOf(each), each.board.version)),
			),
		];
	}

	/** Returns the tools that the setting `directTools` selects: an agent's host offers them directly. */
	listDirectTools(): McpTool[] {
		return this.listTools().filter(({ server, name }) => {
			const { directTools = false } = this.#configOf(server) ?? {};
			return typeof directTools === "boolean" ? directTools : matchesAny(directTools, name);
		});
	}

	/** The tool of this name; null if it does not exist, or if several servers have one and `server` is absent. */
	getTool(name: string, server?: string): McpTool | null {
		const found = this.listTools(server).filter((tool) => tool.name === name);
		return found.length === 1 ? (found[0] as McpTool) : null;
	}

	/**
	 * Calls a tool, and never rejects: an error is in the result. The arguments are checked first.
	 *
	 * @typeParam Data the type of the result; only a local tool returns anything but an MCP result
	 */
	async executeTool<Data = CallToolResult>(
		name: string,
		params: object = {},
		request: CallRequest = {},
	): Promise<McpToolResult<Data>> {
		const start = performance.now();
		const metadata = () => ({ executionTime: performance.now() - start });
		const local = request.server === undefined ? this.#localTools.get(name) : undefined;
		let tool: ServerTool | undefined;
		try {
			if (local !== undefined) {
				const check = { tool: name, what: "arguments", schema: local.inputSchema, value: params };
				const problem = await this.#opened.checker.check(check);
				if (problem !== undefined) {
					throw new McpError("INVALID_PARAMS", problem);
				}
				if (local.canExecute !== undefined && !(await local.canExecute(params))) {
					throw new McpError("INVALID_PARAMS", `Tool '${name}' cannot be executed with these arguments`);
				}
				return { ...((await local.execute(params)) as McpToolResult<Data>), metadata: metadata() };
			}
			await (request.server && this.whenKnown(request.server));
			const found = this.#find(name, request.server);
			tool = found.tool;
			const data = await this.#callTool(found.server, tool, params, request);
			return { success: true, data: data as Data, metadata: metadata() };
		} catch (error) {
			const { code, message, details, retryable } = toMcpError(error, tool);
			return { success: false, error: { code, message, details, retryable }, metadata: metadata() };
		}
	}

	/**
	 * A server's tools as methods, for the interface that `xs-mcp-gateway types` prints: `find_symbol` is `findSymbol`.
	 * A method resolves to the structured result or else the text, and rejects with McpError.
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
			expectComplete(await this.#expect(server).request({ method: "prompts/get", params: { name, arguments: args } })),
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
		return await translated(() => this.#cache.read(this.#expect(name), uri, fresh));
	}

	/** Ends every connection to a configured server. The registry from the options stays open. */
	async close(): Promise<void> {
		this.#cache.clear();
		if (this.path !== undefined) {
			unwatchFile(this.path, this.#onFileChanged);
		}
		clearTimeout(this.#settling);
		await this.#inTurn(() => {});
		this.#opened.off("changed", this.#onChanged);
		await this.#servers.close();
		if (this.#options.registry === undefined) {
			await this.#opened.close();
		}
	}

	/** The id of a configured server, or the alias of a device. */
	#idOf({ id, alias }: Server): string {
		return this.#servers.find(id) === undefined ? alias : id;
	}

	/** A configured server, by its id, or else a device. The id of a server that is not connected may be a device's alias. */
	#expect(name: string): Server {
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

	#configOf(id: string): ServerConfig | undefined {
		return this.#servers.find(id)?.config;
	}

	#readConfig(input: RegisteredServer): ServerConfig {
		const { id, name, url, command } = input;
		const file = this.#fileConfigs.get(id ?? "");
		if (file !== undefined && url === undefined && command === undefined) {
			return file;
		}
		// The schema describes files, which cannot have the program's own authentication.
		const { auth, ...rest } = input;
		const { error } = LISTED_SERVER.safeParse(auth?.type === "custom" ? rest : input);
		if (error !== undefined) {
			throw new McpError("INVALID_REQUEST", describeIssues(error.issues, "server"));
		}
		return serverConfig({ ...input, id: id ?? name ?? "" }, this.#options.options);
	}

	/** Reads and applies the file, without connecting. */
	async #reload(disconnectExisting: boolean): Promise<Reloaded> {
		const { file } = this.#options;
		if (file === undefined) {
			throw new McpError("INVALID_REQUEST", "there is no MCP config file");
		}
		this.#watcher ??= watchFile(file, { persistent: false, interval: POLL_TIME }, this.#onFileChanged);
		const { configs, problems, invalidIds, isBroken } = await readServersFile(file);
		const texts = problems.map(problemText);
		if (isBroken) {
			this.#warn(texts);
			return { disconnected: 0, problems: texts, isBroken };
		}
		const before = this.#fileConfigs;
		// A server whose entry is invalid at the moment (it is being edited) is kept unchanged.
		const isEdited = ({ id }: ServerConfig): boolean => invalidIds.has(id) && configs.every((each) => each.id !== id);
		const wanted = [...configs, ...[...before.values()].filter(isEdited)];
		this.#fileConfigs = new Map(wanted.map((config) => [config.id, config]));
		const open = disconnectExisting ? this.#servers.all.filter(({ isOpen }) => isOpen) : [];
		await Promise.all((disconnectExisting ? this.#servers.all : []).map(({ id }) => this.#servers.remove(id)));
		// Servers registered by a user stay, unless the file names them.
		const unusable = await this.#servers.apply(wanted, (id) => !before.has(id));
		this.#warn([...texts, ...unusable]);
		return { disconnected: open.length, problems: this.#problems, isBroken };
	}

	/** Reports each problem once: an edited file is read again automatically, and on request. */
	#warn(problems: readonly string[]): void {
		for (const problem of problems.filter((each) => !this.#problems.includes(each))) {
			this.emit("warning", problem);
		}
		this.#problems = problems;
	}

	#listed<List extends "prompts" | "resources">(list: List, name: string | undefined) {
		const servers = name === undefined ? this.#registry.all : [this.#expect(name)];
		return servers.flatMap((server) => {
			const items: readonly Offers[List][number][] = server.offers[list];
			return items.map((item) => ({ ...item, server: this.#idOf(server) }));
		});
	}

	#onNotification(server: Server, method: string, params: Readonly<Record<string, unknown>>): void {
		this.#cache.notified(server, method, params);
		this.emit("notification", server.known ? this.#idOf(server) : server.id, notificationType(method), params);
	}

	#listedTool(
		{ name, description = "", inputSchema, outputSchema, ...tool }: ServerTool | LocalTool,
		server: string,
		version = "",
	): McpTool {
		const annotations = "annotations" in tool ? tool.annotations : undefined;
		const request = server === "" ? {} : { server };
		const execute: McpTool["execute"] = (params) => this.executeTool(name, params, request);
		return { name, description, version, inputSchema, outputSchema, annotations, server, execute };
	}

	/** Calls a server's tool. A failed tool rejects, too. */
	async #callTool(server: Server, tool: ServerTool, params: object, request: CallRequest): Promise<CallToolResult> {
		await server.checkArguments(tool, params);
		const { autoApprove = false } = this.#configOf(server.id) ?? {};
		const isApproved = typeof autoApprove === "boolean" ? autoApprove : matchesAny(autoApprove, tool.name);
		const approve = isApproved ? undefined : (request.approve ?? this.#options.approve);
		if (approve !== undefined && !(await approve({ server: this.#idOf(server), tool: tool.name, args: params }))) {
			throw new McpError("PERMISSION_DENIED", `The call of '${tool.name}' was not approved`);
		}
		const { principal = "local", signal } = request;
		// A server sends progress only if it is asked to. Handlers get it with the other notifications.
		const wantsProgress = this.listenerCount("notification") > 0;
		const options = { signal, ...(wantsProgress && { onProgress: () => {} }) };
		const call = { server: this.#idOf(server), tool: tool.name, signal };
		const data = await withQuestions(this.#options.elicit, call, (asking) =>
			server.call(tool, params, { ...options, ...asking, principal }),
		);
		if (data.isError) {
			throw new McpError("EXECUTION_FAILED", textOf(data.content), { details: data });
		}
		return data;
	}

	/** Finds a tool, on one server or the only one that has it. @throws McpError */
	#find(name: string, id: string | undefined): { readonly server: Server; readonly tool: ServerTool } {
		const servers = id === undefined ? this.#registry.all : [this.#expect(id)];
		const all = servers.flatMap((server) => offeredTools(server).map((tool) => ({ server, tool })));
		const exact = all.filter(({ tool }) => tool.name === name);
		const found = exact.length > 0 ? exact : all.filter(({ server, tool }) => isNamed(name, server, tool));
		const [first] = found;
		const owners = new Set(found.map(({ server }) => server));
		if (first !== undefined && owners.size === 1) {
			return first;
		}
		if (id !== undefined) {
			throw this.#notOffered(servers[0] as Server, name);
		}
		// A missing tool may be that of a server that is not connected.
		const failed = this.#servers.all.filter(({ server, lastError }) => server === undefined && lastError !== "");
		const failures = failed.map((each) => `; '${each.id}' is not connected: ${each.lastError}`).join("");
		const ids = [...owners].map((server) => this.#idOf(server)).join(", ");
		const problem = first === undefined ? `not found${failures}` : `is on several servers: ${ids}`;
		throw new McpError("TOOL_NOT_FOUND", `Tool ${name} ${problem}`);
	}

	#notOffered(server: Server, tool: string): McpError {
		const { allow = ["*"], deny = [] } = this.#configOf(server.id)?.tools ?? {};
		const similar = offeredTools(server).filter((each) => isSimilar(each.name, tool));
		const names = similar.slice(0, MAX_SUGGESTED).map(({ name }) => name);
		const hint = names.length > 0 ? `. Did you mean ${names.join(", ")}?` : "";
		return matchesAny(deny, tool) || !matchesAny(allow, tool)
			? new McpError("PERMISSION_DENIED", `Tool '${tool}' is not allowed by the configuration of '${server.id}'`)
			: new McpError("TOOL_NOT_FOUND", `Tool '${tool}' not found on server${hint}`);
	}
}

/** The tools that models may call. */
function offeredTools({ tools }: Server): readonly ServerTool[] {
	return tools.filter((tool) => !isUserOnly(tool));
}

/** Whether a name means a tool in a gateway's spelling: in portable characters, with or without the server's alias. */
function isNamed(name: string, { alias }: Server, tool: ServerTool): boolean {
	return portable(tool.name) === portable(name.startsWith(`${alias}__`) ? name.slice(alias.length + 2) : name);
}

function connectionOf({ config, transport, status, server, lastError }: ConfiguredServer): McpConnection {
	const { board: serverInfo, listProblems: problems = [] } = server ?? {};
	const { id, shown: url } = config;
	const tools = server === undefined ? 0 : offeredTools(server).length;
	return { id, url, transport, status, tools, serverInfo, lastError, problems };
}
