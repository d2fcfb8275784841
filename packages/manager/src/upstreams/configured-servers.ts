import { EventEmitter } from "node:events";
import { readFile } from "node:fs/promises";
import { ClientCredentialsProvider } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import { McpError } from "../core/errors.js";
import type { ServerRegistry } from "../core/registry.js";
import type { McpManagerOptions } from "../manager/mcp-types.js";
import { SignedIn } from "./auth/sign-ins.js";
import { ConfiguredServer, type ConfiguredServerEvents } from "./configured-server.js";
import type { Auth } from "./configured-transport.js";
import type { ServerConfig } from "./server-config.js";

type SignInSettings = NonNullable<McpManagerOptions["options"]>["signIns"];

/** The servers to which the gateway connects: a pool of connections with a limit. */
export class ConfiguredServers extends EventEmitter<ConfiguredServerEvents> {
	readonly registry: ServerRegistry;
	readonly #maxConnections: number;
	/** Milliseconds. */
	readonly pingInterval: number;
	readonly #signIns: SignInSettings;
	readonly #servers = new Map<string, ConfiguredServer>();

	constructor(registry: ServerRegistry, options: McpManagerOptions["options"] = {}) {
		super();
		this.registry = registry;
		this.#maxConnections = options.maxConnections ?? 10;
		this.pingInterval = options.pingInterval ?? 15_000;
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
	 * @throws McpError "INVALID_REQUEST" if the id is already in use
	 */
	add(config: ServerConfig): ConfiguredServer {
		const { id } = config;
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
		await Promise.all(this.all.map(({ id }) => this.remove(id)));
	}

	/**
	 * The least recently used idle connection, which is closed for another one; undefined below the limit of connections.
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

/** The contents of a servers file: the valid servers, and the errors of the others. */
export interface ReadServers {
	readonly configs: readonly ServerConfig[];
	readonly problems: readonly ConfigProblem[];
	readonly invalidIds: ReadonlySet<string>;
	readonly isBroken: boolean;
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
export async function readServersFile(path: string): Promise<ReadServers> {
	// Loaded on demand: many programs have no file.
	const { brokenFile, readServers } = await import("./read-servers.js");
	try {
		return readServers(await readFile(path, "utf8"), path);
	} catch (error) {
		return brokenFile(path, error as Error);
	}
}
