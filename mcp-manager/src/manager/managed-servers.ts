import { EventEmitter } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { describeIssues } from "../core/issues.js";
import type { ServerTool } from "../core/offers.js";
import { ServerRegistry } from "../core/registry.js";
import { isUserOnly, type Server } from "../core/server.js";
import type { ConfiguredServer } from "../upstreams/configured-server.js";
import { ConfiguredServers } from "../upstreams/configured-servers.js";
import { LISTED_SERVER, type ServerConfig, serverConfig } from "../upstreams/server-config.js";
import { problemText, ServersFile } from "../upstreams/servers-file.js";
import { ELICITATION } from "./asking-person.js";
import { McpError, toMcpError, translated } from "./mcp-error.js";
import type { McpConnection, McpManagerEvents, McpManagerOptions, RegisteredServer, Reloaded } from "./mcp-types.js";

/** The servers of a manager: listed in its options, in its file, registered while it runs, and its registry's devices. */
export abstract class ManagedServers extends EventEmitter<McpManagerEvents> {
	protected readonly options: McpManagerOptions;
	readonly #file: ServersFile | undefined;
	/** Undefined before {@link initialize}. */
	#opened: { readonly registry: ServerRegistry; readonly servers: ConfiguredServers } | undefined;
	/** The servers of the file, connected or not. */
	#fileConfigs = new Map<string, ServerConfig>();
	#reloading: Promise<unknown> = Promise.resolve();
	/** The problems of the file as it was read last. */
	#problems: readonly string[] = [];

	readonly #onChanged = (): void => void this.emit("changed");

	constructor(options: McpManagerOptions) {
		super();
		this.setMaxListeners(0);
		this.options = options;
		this.#file = options.file === undefined ? undefined : new ServersFile(options.file);
	}

	protected abstract onServerNotification(
		server: Server,
		method: string,
		params: Readonly<Record<string, unknown>>,
	): void;

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
		const { registry: given, options, elicit, servers = [], isFileOptional } = this.options;
		const onWarning = (message: string): void => void this.emit("warning", message);
		const registry = given ?? (await ServerRegistry.open(elicit && { relayed: ELICITATION }, onWarning));
		this.#opened = { registry, servers: new ConfiguredServers(registry, options) };
		this.#servers.on("status", ({ id, lastError }, status) => this.emit("status", id, status, lastError));
		this.#servers.on("stderr", ({ id }, line) => this.emit("debug", id, line));
		registry.on("notification", (server, method, params) => this.onServerNotification(server, method, params));
		registry.on("requestNotification", (...event) => this.onServerNotification(...event));
		registry.on("changed", this.#onChanged);
		for (const server of servers) {
			this.#servers.add(this.#configOf(server));
		}
		if (this.#file === undefined || (isFileOptional && !this.#file.exists())) {
			await this.#servers.startEnabled();
		} else {
			await this.reload();
		}
	}

	/** @throws McpError before {@link initialize} */
	protected get registry(): ServerRegistry {
		return this.#expectOpened().registry;
	}

	get #servers(): ConfiguredServers {
		return this.#expectOpened().servers;
	}

	#expectOpened() {
		if (this.#opened === undefined) {
			throw new McpError("INVALID_REQUEST", "the manager is not initialized: call initialize() and wait for it first");
		}
		return this.#opened;
	}

	/** The servers of the file, enabled or not. */
	get configs(): readonly ServerConfig[] {
		return [...this.#fileConfigs.values()];
	}

	/** The path of the servers file. */
	get path(): string | undefined {
		return this.#file?.path;
	}

	/** Every configured server, and every device. */
	listConnections(): McpConnection[] {
		const configured = this.#servers.all.filter(
			({ status, server, isLazy }) => status !== "disconnected" || server !== undefined || isLazy,
		);
		const devices = this.registry.all.filter(({ id }) => this.#servers.find(id) === undefined);
		return [...configured.map(connectionOf), ...devices.map(deviceConnectionOf)];
	}

	/**
	 * Adds a server and connects to it.
	 *
	 * Rejects with McpError if it is not valid, if its id is in use, or if it cannot be connected: then it is not added.
	 *
	 * @param approve called first with the URL or command, unless the server is in the file
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
		const server = asRequest(() => this.#servers.add(config));
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
	 * Rejects with McpError if it is a device: only the device itself, or who runs the gateway, can keep it away.
	 *
	 * @returns its URL or command; undefined if the server does not exist
	 */
	async disconnect(id: string): Promise<string | undefined> {
		const server = this.#servers.find(id);
		if (server === undefined && this.registry.find(id) !== undefined) {
			const message = `'${id}' is a device, which connects by itself: switch it off, or remove its token at the gateway`;
			throw new McpError("INVALID_REQUEST", message);
		}
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
	async reload(disconnectExisting = false): Promise<Reloaded> {
		const next = this.#reloading.then(() => this.#reload(disconnectExisting));
		this.#reloading = next.catch(() => {});
		const result = await next;
		// Another reload need not wait for a server that takes long to connect.
		await this.#servers.startEnabled();
		return result;
	}

	/** The id of a configured server, or the alias of a device. */
	protected idOf({ id, alias }: Server): string {
		return this.#servers.find(id) === undefined ? alias : id;
	}

	/** A configured server, by its id, or else a device. The id of a server that is not connected may be a device's alias. */
	protected expect(name: string): Server {
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
	protected configOf(id: string): ServerConfig | undefined {
		return this.#servers.find(id)?.config;
	}

	/** Servers that are not connected, and why, to append to an error: a missing tool may be theirs. */
	protected failures(): string {
		const failed = this.#servers.all.filter(({ server, lastError }) => server === undefined && lastError !== "");
		return failed.map(({ id, lastError }) => `; '${id}' is not connected: ${lastError}`).join("");
	}

	/** Ends every connection to a configured server. A registry that was given stays open. */
	async close(): Promise<void> {
		this.#file?.close();
		await this.#reloading;
		this.#opened?.registry.off("changed", this.#onChanged);
		await this.#opened?.servers.close();
		if (this.options.registry === undefined) {
			await this.#opened?.registry.close();
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
		const { error } = LISTED_SERVER.safeParse(auth?.type === "custom" ? rest : input);
		if (error !== undefined) {
			throw new McpError("INVALID_REQUEST", describeIssues(error.issues, "server"));
		}
		return asRequest(() => serverConfig({ ...input, id: id ?? name ?? "" }, this.options.options));
	}

	/** Reads the file and takes over what it says, without connecting. */
	async #reload(disconnectExisting: boolean): Promise<Reloaded> {
		const file = this.#file;
		if (file === undefined) {
			throw new McpError("INVALID_REQUEST", "there is no MCP config file");
		}
		try {
			file.watch(() => void this.reload().catch(({ message }: Error) => this.emit("warning", message)));
		} catch (error) {
			if (!this.options.isFileOptional) {
				this.emit("warning", `changes of ${file.path} are not followed: ${(error as Error).message}`);
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

	/** Reports each problem once: an edited file is read again automatically, and on request. */
	#warn(problems: readonly string[]): void {
		for (const problem of problems.filter((each) => !this.#problems.includes(each))) {
			this.emit("warning", problem);
		}
		this.#problems = problems;
	}
}

/** Turns an error of a server's entry, or of an id in use, into that of the request. */
function asRequest<T>(task: () => T): T {
	try {
		return task();
	} catch (error) {
		throw new McpError("INVALID_REQUEST", (error as Error).message);
	}
}

/** How a configured server is listed. */
function connectionOf({ config, transport, status, server, lastError }: ConfiguredServer): McpConnection {
	const { tools = [], board: serverInfo, listProblems: problems = [] } = server ?? {};
	const { id, shown: url } = config;
	return { id, url, transport, status, tools: countOf(tools), serverInfo, lastError, problems };
}

/** How a device is listed. */
function deviceConnectionOf({ alias: id, connection, online, tools, board, listProblems }: Server): McpConnection {
	const transport = connection?.identity.transport ?? "device";
	const status = online ? "connected" : "disconnected";
	const listed = { id, url: transport, transport, status, tools: countOf(tools) } as const;
	return { ...listed, serverInfo: board, lastError: "", problems: listProblems };
}

/** The tools that `mcp_list_tools` lists, too. */
function countOf(tools: readonly ServerTool[]): number {
	return tools.filter((tool) => !isUserOnly(tool)).length;
}
