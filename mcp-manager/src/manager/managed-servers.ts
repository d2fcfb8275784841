import type { EventEmitter } from "node:events";
import type { ServerTool } from "../core/offers.js";
import { ServerRegistry } from "../core/registry.js";
import { isUserOnly, type Server } from "../core/server.js";
import { problemText } from "../upstreams/config-problem.js";
import type { ConfiguredServer } from "../upstreams/configured-server.js";
import { ConfiguredServers } from "../upstreams/configured-servers.js";
import { LISTED_SERVER, matchesAny, type ServerConfig, serverConfig } from "../upstreams/server-config.js";
import { ServersFile } from "../upstreams/servers-file.js";
import { ELICITATION } from "./asking-person.js";
import { McpError, toMcpError, translated } from "./mcp-error.js";
import type { McpConnection, McpManagerEvents, McpManagerOptions, RegisteredServer, Reloaded } from "./mcp-types.js";

type OnNotification = (server: Server, method: string, params: Readonly<Record<string, unknown>>) => void;

/** The servers of a manager: listed in its options, in its file, registered while it runs, and its registry's devices. */
export class ManagedServers {
	readonly #options: McpManagerOptions;
	readonly #events: EventEmitter<McpManagerEvents>;
	readonly #file: ServersFile | undefined;
	/** Undefined before {@link open}. */
	#opened: { readonly registry: ServerRegistry; readonly servers: ConfiguredServers } | undefined;
	/** The servers of the file, connected or not. */
	#fileConfigs = new Map<string, ServerConfig>();
	#reloading: Promise<unknown> = Promise.resolve();
	/** The problems of the file as it was read last. */
	#problems: readonly string[] = [];

	readonly #onChanged = (): void => void this.#events.emit("changed");

	/** @param events emits `changed`, `status`, `warning` and `debug` */
	constructor(options: McpManagerOptions, events: EventEmitter<McpManagerEvents>) {
		this.#options = options;
		this.#events = events;
		this.#file = options.file === undefined ? undefined : new ServersFile(options.file);
	}

	/** Rejects with McpError if a server of the options is not valid. */
	async open(onNotification: OnNotification): Promise<void> {
		const { registry, options, elicit, servers = [] } = this.#options;
		const opened =
			registry ??
			(await ServerRegistry.open(elicit && { relayed: ELICITATION }, (message) =>
				this.#events.emit("warning", message),
			));
		this.#opened = { registry: opened, servers: new ConfiguredServers(opened, options) };
		this.#servers.on("status", ({ id, lastError }, status) => this.#events.emit("status", id, status, lastError));
		this.#servers.on("stderr", ({ id }, line) => this.#events.emit("debug", id, line));
		this.registry.on("notification", onNotification);
		this.registry.on("requestNotification", onNotification);
		this.registry.on("changed", this.#onChanged);
		for (const server of servers) {
			this.#servers.add(this.#configOf(server));
		}
		if (this.#file === undefined || (this.#options.isFileOptional && !this.#file.exists())) {
			await this.#servers.startEnabled();
		} else {
			await this.reload();
		}
	}

	/** @throws McpError before {@link open} */
	get registry(): ServerRegistry {
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

	/** The servers of the file, enabled or not. */
	get configs(): readonly ServerConfig[] {
		return [...this.#fileConfigs.values()];
	}

	/** The file of servers. */
	get path(): string | undefined {
		return this.#file?.path;
	}

	/** Whether the host of an agent offers this tool of a server itself. */
	isDirect(id: string, tool: string): boolean {
		const { directTools = false } = this.configOf(id) ?? {};
		return typeof directTools === "boolean" ? directTools : matchesAny(directTools, tool);
	}

	/** As `McpManager.listConnections`. */
	list(): McpConnection[] {
		const configured = this.#servers.all.filter(
			({ status, server, isLazy }) => status !== "disconnected" || server !== undefined || isLazy,
		);
		const devices = this.registry.all.filter(({ id }) => this.#servers.find(id) === undefined);
		return [...configured.map(connectionOf), ...devices.map(deviceConnectionOf)];
	}

	/** As `McpManager.registerServer`. */
	async register(input: RegisteredServer, approve?: (shown: string) => Promise<boolean>): Promise<McpConnection> {
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

	/** As `McpManager.whenKnown`. */
	async whenKnown(server: string): Promise<void> {
		const configured = this.#servers.find(server);
		if (configured?.server === undefined && (configured?.isLazy || configured?.status === "connecting")) {
			await translated(() => configured.connect());
		}
	}

	/** As `McpManager.disconnect`. */
	async disconnect(id: string): Promise<string | undefined> {
		const server = this.#servers.find(id);
		if (server === undefined && this.registry.find(id) !== undefined) {
			const message = `'${id}' is a device, which connects by itself: switch it off, or remove its token at the gateway`;
			throw new McpError("INVALID_REQUEST", message);
		}
		await this.#servers.remove(id);
		return server?.config.shown;
	}

	/** As `McpManager.disconnectAll`. */
	async disconnectAll(): Promise<void> {
		await Promise.all(this.#servers.all.map(({ id }) => this.disconnect(id)));
	}

	/** As `McpManager.reload`. */
	async reload(disconnectExisting = false): Promise<Reloaded> {
		const next = this.#reloading.then(() => this.#reload(disconnectExisting));
		this.#reloading = next.catch(() => {});
		const result = await next;
		// Another reload need not wait for a server that takes long to connect.
		await this.#servers.startEnabled();
		return result;
	}

	/** The id of a configured server, or the alias of a device. */
	idOf({ id, alias }: Server): string {
		return this.#servers.find(id) === undefined ? alias : id;
	}

	/** A configured server, by its id, or else a device. The id of a server that is not connected may be a device's alias. */
	expect(name: string): Server {
		const configured = this.#servers.find(name);
		const server = configured === undefined ? this.registry.find(name) : configured.server;
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

	/** The configuration of a server; undefined for a device. */
	configOf(id: string): ServerConfig | undefined {
		return this.#servers.find(id)?.config;
	}

	/** Servers that are not connected, and why, to append to an error: a missing tool may be theirs. */
	failures(): string {
		const failed = this.#servers.all.filter(({ server, lastError }) => server === undefined && lastError !== "");
		return failed.map(({ id, lastError }) => `; '${id}' is not connected: ${lastError}`).join("");
	}

	/** Ends every connection to a configured server. A registry that was given stays open. */
	async close(): Promise<void> {
		this.#file?.close();
		await this.#reloading;
		this.#opened?.registry.off("changed", this.#onChanged);
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
		// Authentication of the program's own is not a matter of files, which the schema describes.
		const { auth, ...rest } = input;
		const [issue] = LISTED_SERVER.safeParse(auth?.type === "custom" ? rest : input).error?.issues ?? [];
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
	async #reload(disconnectExisting: boolean): Promise<Reloaded> {
		const file = this.#file;
		if (file === undefined) {
			throw new McpError("INVALID_REQUEST", "there is no MCP config file");
		}
		try {
			file.watch(() => void this.reload().catch(({ message }: Error) => this.#events.emit("warning", message)));
		} catch (error) {
			if (!this.#options.isFileOptional) {
				this.#events.emit("warning", `changes of ${file.path} are not followed: ${(error as Error).message}`);
			}
		}
		const { configs, problems, invalidIds, isBroken } = await file.read();
		const texts = problems.map(problemText);
		if (isBroken) {
			this.#warn(texts);
			return { disconnected: 0, problems: texts, isBroken };
		}
		const before = this.#fileConfigs;
		// A server whose entry is invalid at the moment (it is being edited) stays as it is.
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

	/** Of each problem once: an edited file is read again automatically, and on request. */
	#warn(problems: readonly string[]): void {
		for (const problem of problems.filter((each) => !this.#problems.includes(each))) {
			this.#events.emit("warning", problem);
		}
		this.#problems = problems;
	}
}

/** How a configured server is listed. */
function connectionOf({ config, transport, status, server, lastError }: ConfiguredServer): McpConnection {
	const { id, shown: url } = config;
	const { tools = [], board: serverInfo, listProblems: problems = [] } = server ?? {};
	return { id, url, transport, status, tools: countOf(tools), serverInfo, lastError, problems };
}

/** How a device is listed. */
function deviceConnectionOf({ alias, session, online, tools, board, listProblems }: Server): McpConnection {
	const transport = session?.identity.transport ?? "device";
	const status = online ? "connected" : "disconnected";
	const problems = listProblems;
	return {
		id: alias,
		url: transport,
		transport,
		status,
		tools: countOf(tools),
		serverInfo: board,
		lastError: "",
		problems,
	};
}

/** The tools that `mcp_list_tools` lists, too. */
function countOf(tools: readonly ServerTool[]): number {
	return tools.filter((tool) => !isUserOnly(tool)).length;
}
