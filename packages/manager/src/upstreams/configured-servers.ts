import { EventEmitter } from "node:events";
import { readFile } from "node:fs/promises";
import { ClientCredentialsProvider } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import { MAX_ALIAS_LENGTH } from "../core/aliases.js";
import { backoff, McpError, RETRY_POLICY, ServerError, shared } from "../core/errors.js";
import { slug } from "../core/names.js";
import type { ServerRegistry } from "../core/registry.js";
import type { CallRecord, Server } from "../core/server.js";
import type { McpManagerOptions } from "../manager/mcp-types.js";
import type { Auth } from "./configured-transport.js";
import { SdkConnection } from "./sdk-connection.js";
import { matchesAny, type ServerConfig } from "./server-config.js";
import { SignedIn } from "./sign-ins.js";

/** The status of a connection. A server that is "disconnected" may be opened again on demand. */
export type ConnectionStatus = "connecting" | "connected" | "disconnected" | "error";

interface ConfiguredServerEvents {
	status: [server: ConfiguredServer, status: ConnectionStatus];
	stderr: [server: ConfiguredServer, line: string];
}

/** Longest retry interval after the retries of the policy, or if the server asks for one, ms. */
const MAX_RECONNECT_DELAY = 60_000;

/** Milliseconds that a server has for the answer to a ping. */
const PING_TIME = 10_000;

/** Milliseconds between checks for a sign-in at a server that has refused the connection. */
const SIGN_IN_POLL = 2_000;

const DEFAULT_POLICY = RETRY_POLICY.parse({});

/** A server to which the gateway connects: keeps its connection open, and reconnects. */
export class ConfiguredServer {
	readonly config: ServerConfig;
	readonly #pool: ConfiguredServers;
	readonly #auth: Auth | undefined;
	status: ConnectionStatus = "disconnected";
	/** Why the last connection, or attempt at one, ended. */
	lastError = "";
	/** The registry's server; undefined until it was connected. */
	server: Server | undefined;
	/** When it was last connected or called, in milliseconds. */
	lastUsed = 0;
	/** The current or last connection. */
	#connection: SdkConnection | undefined;
	readonly #connectOnce = shared(() => this.#connect());
	/** Whether it reconnects automatically. */
	#keepsTrying = false;
	/** Reconnection attempts since the last lasting connection. */
	#attempts = 0;
	#retryTimer: NodeJS.Timeout | undefined;
	#closed = false;

	/** @throws RangeError if another server has its id */
	constructor(config: ServerConfig, pool: ConfiguredServers, auth: Auth | undefined) {
		this.config = config;
		this.#pool = pool;
		this.#auth = auth;
		const { id, timeout, maxParallel, retryPolicy, tools } = config;
		const { allow = ["*"], deny = [] } = tools;
		pool.registry.configure(id, {
			alias: slug(id, id.includes("_") ? "_" : "-", MAX_ALIAS_LENGTH) || "server",
			callTimeout: timeout,
			offlineWait: timeout,
			callsPerServer: maxParallel,
			wake: () => this.connect(),
			offers: (tool) => matchesAny(allow, tool) && !matchesAny(deny, tool),
			retryPolicy,
		});
	}

	get id(): string {
		return this.config.id;
	}

	/** Transport of the current or last connection. */
	get transport(): string {
		return this.#connection?.transport.type ?? this.config.transport;
	}

	/** Whether it is connected or connecting. */
	get isOpen(): boolean {
		return this.status === "connecting" || this.status === "connected";
	}

	/** Whether it is connected only on demand. */
	get isLazy(): boolean {
		return this.config.lazy && this.config.enabled;
	}

	/** Connects, and retries after failures. */
	start(): Promise<unknown> {
		this.#keepsTrying = true;
		return this.connect().catch(() => {});
	}

	/**
	 * Connects, unless it is connected. From then on, it reconnects if the connection is lost.
	 *
	 * Rejects with ServerError: "server-offline", or "permission-denied" and "rate-limited" over HTTP.
	 */
	connect(): Promise<Server> {
		clearTimeout(this.#retryTimer);
		if (this.#closed) {
			return Promise.reject(new ServerError("server-offline", `Connection '${this.id}' not found`));
		}
		return this.#connectOnce();
	}

	/** Closes the connection. It stays closed until it is needed, or {@link connect} is called. */
	async disconnect(reason = "disconnected"): Promise<void> {
		this.#keepsTrying = false;
		clearTimeout(this.#retryTimer);
		this.#changeStatus("disconnected");
		await this.#connection?.transport.close(reason);
	}

	/** Disconnects, stops retrying, and drops the tools. */
	async close(): Promise<void> {
		this.#closed = true;
		await this.disconnect("no longer configured");
		this.#pool.registry.unconfigure(this.id);
	}

	/** Records that a call has ended. After one without an answer, the connection is checked at once. */
	called(outcome: CallRecord["outcome"]): void {
		this.lastUsed = performance.now();
		if (outcome === "timeout" && this.status === "connected") {
			void this.#connection?.check(this.#pool.pingTime);
		}
	}

	async #connect(): Promise<Server> {
		if (this.status === "connected" && this.server !== undefined) {
			return this.server;
		}
		try {
			this.#pool.idleToClose();
			this.#changeStatus("connecting");
			const server = await this.#open();
			this.#keepsTrying = true;
			return server;
		} catch (error) {
			const { message } = error as Error;
			// It may have been disconnected in the meantime.
			if (this.#keepsTrying || this.status === "connecting") {
				this.#lost(message);
			}
			const code = this.#connection?.transport.refusal?.code ?? "server-offline";
			throw new ServerError(code, `Connection failed: ${message}`, { cause: error });
		}
	}

	/** Settles when its tools are known. */
	async #open(): Promise<Server> {
		const { registry } = this.#pool;
		const { timeout } = this.config;
		const connection = new SdkConnection(this.config, this.#auth);
		connection.transport.onstderr = (line) => this.#pool.emit("stderr", this, line);
		this.#connection = connection;
		const late = () => connection.close(`Connection timeout after ${timeout}ms${connection.transport.trouble}`);
		const timer = setTimeout(late, timeout);
		let onOnline = (_server: Server): void => {};
		const online = new Promise<Server>((resolve, reject) => {
			onOnline = (server) => server.connection === connection && resolve(server);
			connection.events.once("closed", (reason) => reject(new Error(reason)));
		});
		registry.on("online", onOnline);
		try {
			registry.connect(connection);
			return this.#opened(await online, connection);
		} finally {
			clearTimeout(timer);
			registry.off("online", onOnline);
		}
	}

	/** @throws Error if the limit of connections is reached, after closing this one */
	#opened(server: Server, connection: SdkConnection): Server {
		try {
			// Only now that it works: a broken server does not close healthy ones.
			void this.#pool.idleToClose()?.disconnect("closed to make room for another server; reconnecting on demand");
		} catch (error) {
			connection.close((error as Error).message);
			throw error;
		}
		this.server = server;
		const since = performance.now();
		connection.events.once("closed", (reason) => {
			if (this.#connection === connection && this.status === "connected") {
				const { maxDelay } = this.config.retryPolicy ?? DEFAULT_POLICY;
				this.#attempts = performance.now() - since > maxDelay ? 0 : this.#attempts;
				this.#lost(reason);
			}
		});
		this.lastUsed = performance.now();
		this.lastError = "";
		connection.keepChecking(this.#pool.pingInterval, this.#pool.pingTime);
		this.#changeStatus("connected");
		return server;
	}

	#lost(reason: string): void {
		this.lastError = reason;
		this.#changeStatus("error");
		if (this.#keepsTrying && this.#connection?.transport.refusal?.code === "permission-denied") {
			this.#retryAfterSignIn();
		} else if (this.#keepsTrying) {
			const policy = this.config.retryPolicy ?? DEFAULT_POLICY;
			const maxDelay = this.#attempts < policy.maxRetries ? policy.maxDelay : MAX_RECONNECT_DELAY;
			const asked = Math.min(this.#connection?.transport.refusal?.retryAfter ?? 0, MAX_RECONNECT_DELAY);
			const delay = Math.max(backoff({ ...policy, maxDelay }, this.#attempts), asked);
			this.#attempts += 1;
			this.#retryTimer = setTimeout(() => void this.connect().catch(() => {}), delay);
		}
	}

	/**
	 * Waits for a person to sign in: until then, a server that has refused the connection would refuse it again. A change
	 * of the configuration replaces this object.
	 */
	#retryAfterSignIn(): void {
		const auth = this.#auth;
		if (auth instanceof SignedIn) {
			this.#retryTimer = setTimeout(async () => {
				if (await auth.isOutdated()) {
					await this.connect().catch(() => {});
				} else if (this.#keepsTrying && this.status === "error") {
					this.#retryAfterSignIn();
				}
			}, SIGN_IN_POLL);
		}
	}

	#changeStatus(status: ConnectionStatus): void {
		if (this.status !== status) {
			this.status = status;
			this.#pool.emit("status", this, status);
		}
	}
}

type SignInSettings = NonNullable<McpManagerOptions["options"]>["signIns"];

/** The servers to which the gateway connects: a pool of connections with a limit. */
export class ConfiguredServers extends EventEmitter<ConfiguredServerEvents> {
	readonly registry: ServerRegistry;
	readonly #maxConnections: number;
	/** Milliseconds between pings, and for the answer to one. */
	readonly pingInterval: number;
	readonly pingTime: number;
	readonly #signIns: SignInSettings;
	readonly #servers = new Map<string, ConfiguredServer>();
	#isClosed = false;

	constructor(registry: ServerRegistry, options: McpManagerOptions["options"] = {}) {
		super();
		this.registry = registry;
		this.#maxConnections = options.maxConnections ?? 10;
		this.pingInterval = options.pingInterval ?? 15_000;
		this.pingTime = Math.min(this.pingInterval, PING_TIME);
		this.#signIns = options.signIns;
		registry.on("call", ({ serverId, outcome }) => this.#servers.get(serverId)?.called(outcome));
	}

	get all(): readonly ConfiguredServer[] {
		return [...this.#servers.values()];
	}

	find(id: string): ConfiguredServer | undefined {
		return this.#servers.get(id);
	}

	/**
	 * Adds a server, without connecting to it.
	 *
	 * @throws McpError "INVALID_REQUEST" if the id is already in use, and after {@link close}
	 */
	add(config: ServerConfig): ConfiguredServer {
		const { id } = config;
		if (this.#isClosed) {
			throw new McpError("INVALID_REQUEST", "the manager is closed");
		}
		try {
			const server = new ConfiguredServer(config, this, authFor(config, this.#signIns));
			this.#servers.set(id, server);
			return server;
		} catch (error) {
			// RangeError: the id belongs to another server, or to one that is still closing.
			throw error instanceof RangeError ? new McpError("INVALID_REQUEST", `Connection '${id}' already exists`) : error;
		}
	}

	async remove(id: string): Promise<void> {
		const server = this.#servers.get(id);
		if (server !== undefined) {
			this.#servers.delete(id);
			await server.close();
		}
	}

	/**
	 * Connects to the servers that are enabled and not lazy, and retries those that fail. Settles when each was
	 * tried once. Beyond the limit of connections, those connected first are closed again, and reopened on demand.
	 */
	async startEnabled(): Promise<void> {
		const limit = pLimit(this.#maxConnections);
		const enabled = this.all.filter(({ config, isOpen }) => config.enabled && !config.lazy && !isOpen);
		await Promise.all(enabled.map((server) => limit(() => server.start())));
	}

	/**
	 * Follows a changed configuration: removes servers that are not in it, and replaces those that differ. Connects to none:
	 * {@link startEnabled} does.
	 *
	 * @param isKept whether a server that is not in the configuration stays
	 * @returns the errors of servers that cannot be added
	 */
	async apply(configs: readonly ServerConfig[], isKept: (id: string) => boolean): Promise<string[]> {
		const wanted = new Map(configs.map((config) => [config.id, config]));
		const outdated = this.all.filter(({ id, config }) => {
			const next = wanted.get(id);
			return next === undefined ? !isKept(id) : JSON.stringify(next) !== JSON.stringify(config);
		});
		await Promise.all(outdated.map(({ id }) => this.remove(id)));
		const problems: string[] = [];
		for (const config of configs.filter(({ id }) => !this.#servers.has(id))) {
			try {
				this.add(config);
			} catch (error) {
				problems.push((error as Error).message);
			}
		}
		return problems;
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		await Promise.all(this.all.map(({ id }) => this.remove(id)));
	}

	/**
	 * The least recently used idle connection, to close for a new one; undefined below the limit of connections.
	 *
	 * @throws Error if the limit is reached and none is idle
	 */
	idleToClose(): ConfiguredServer | undefined {
		const connected = this.all.filter(({ status }) => status === "connected");
		if (connected.length < this.#maxConnections) {
			return undefined;
		}
		const idle = connected.filter(({ server }) => server?.busy !== true);
		const [oldest] = idle.sort((one, other) => one.lastUsed - other.lastUsed);
		if (oldest === undefined) {
			throw new Error(`Maximum connections (${this.#maxConnections}) reached`);
		}
		return oldest;
	}
}

/** Authentication for a server over HTTP; undefined if its headers authenticate, or nothing can. */
function authFor(config: ServerConfig, signIns: SignInSettings): Auth | undefined {
	const { transport, headers, oauth, authProvider } = config;
	if (authProvider !== undefined) {
		return authProvider;
	}
	if (oauth?.grant === "client_credentials") {
		const { clientId = "", clientSecret = "", scope } = oauth;
		return new ClientCredentialsProvider({ clientId, clientSecret, clientName: "xs-mcp", ...(scope && { scope }) });
	}
	const hasSecret = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
	if (signIns === undefined || hasSecret || (transport !== "http" && transport !== "sse")) {
		return undefined;
	}
	return new SignedIn(config, signIns.folder, signIns.how);
}

/** An error in a servers file. */
export interface ConfigProblem {
	readonly file: string;
	/** From 1. */
	readonly line: number;
	/** `servers[1].timeout`; empty: the whole file. */
	readonly field: string;
	readonly message: string;
}

/** One line for people. */
export function problemText({ file, line, field, message }: ConfigProblem): string {
	return field === ""
		? `Failed to parse MCP config file ${file}:${line}: ${message}`
		: `Invalid MCP config: ${file}:${line}: ${field}: ${message}`;
}

/** Validates a servers file: the problems, with line and field. A file that cannot be read is one problem. @public */
export async function validateServersFile(path: string): Promise<readonly ConfigProblem[]> {
	return (await readServersFile(path)).problems;
}

/** The configuration of one server of a file. Rejects with Error: "… not found", or the first problem of the file. */
export async function readServer(path: string, id: string): Promise<ServerConfig> {
	const { configs, problems } = await readServersFile(path);
	const server = configs.find((each) => each.id === id);
	if (server === undefined) {
		const [problem] = problems;
		throw new Error(problem === undefined ? `${path}: server ${id} not found` : problemText(problem));
	}
	return server;
}

/** Reads a servers file. One that cannot be read is one problem of the whole file. */
export async function readServersFile(path: string) {
	// Loaded on demand: many programs have no file.
	const { brokenFile, readServers } = await import("./read-servers.js");
	try {
		return readServers(await readFile(path, "utf8"), path);
	} catch (error) {
		return brokenFile(path, error as Error);
	}
}
