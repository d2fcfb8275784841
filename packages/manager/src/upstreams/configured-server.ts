import type { VersionNegotiationMode } from "@modelcontextprotocol/client";
import { MAX_ALIAS_LENGTH } from "../core/aliases.js";
import { REVISION_OF_STATELESS } from "../core/asking.js";
import { backoff, RETRY_POLICY, ServerError } from "../core/errors.js";
import { slug } from "../core/names.js";
import { shared } from "../core/received.js";
import type { CallRecord, Server } from "../core/server.js";
import { SignedIn } from "./auth/sign-ins.js";
import type { ConfiguredServers } from "./configured-servers.js";
import type { Auth } from "./configured-transport.js";
import { SdkConnection } from "./sdk-connection.js";
import { matchesAny, type ServerConfig } from "./server-config.js";

/** The status of a connection. A server that is "disconnected" may be opened again on demand. */
export type ConnectionStatus = "connecting" | "connected" | "disconnected" | "error";

export interface ConfiguredServerEvents {
	status: [server: ConfiguredServer, status: ConnectionStatus];
	stderr: [server: ConfiguredServer, line: string];
}

/** Longest retry interval after the retries of the policy, or if the server asks for one, ms. */
const MAX_RECONNECT_DELAY = 60_000;

/** Milliseconds that a server has for the answer to a ping. */
const PING_TIME = 10_000;

/** Milliseconds between checks for a sign-in at a server that has refused the connection. */
const SIGN_IN_POLL = 2_000;

const STATELESS_ONLY = { pin: REVISION_OF_STATELESS };

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
	/** Its connection, or the last one. */
	#connection: SdkConnection | undefined;
	readonly #connectOnce = shared(() => this.#connect());
	/** Whether it connects again by itself. */
	#keepsTrying = false;
	/** Reconnection attempts since the last lasting connection. */
	#attempts = 0;
	#retryTimer: NodeJS.Timeout | undefined;
	#pingTimer: NodeJS.Timeout | undefined;
	/** Closes a connection whose server does not answer. An error response proves that it works. */
	readonly #ping = shared(async (connection: SdkConnection): Promise<void> => {
		await connection.ping(Math.min(this.#pool.pingInterval, PING_TIME)).catch((error: Error) => {
			if (error instanceof ServerError && error.code === "timeout") {
				connection.close("no response to a ping");
			}
		});
	});
	/** Whether it has only revisions without `initialize`, and is not reached over HTTP. */
	#isStateless = false;
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

	/** Transport of its connection, or of the last one. */
	get transport(): string {
		return this.#connection?.transport.type ?? this.config.transport;
	}

	/** Whether it has a connection, or an attempt at one. */
	get isOpen(): boolean {
		return this.status === "connecting" || this.status === "connected";
	}

	/** Whether it waits to be connected until it is needed. */
	get isLazy(): boolean {
		return this.config.lazy && this.config.enabled;
	}

	/** Connects, and goes on trying if that fails. */
	start(): Promise<unknown> {
		this.#keepsTrying = true;
		return this.connect().catch(() => {});
	}

	/**
	 * Connects, unless it is connected. From then on, it connects again if the connection is lost.
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
		clearInterval(this.#pingTimer);
		this.#changeStatus("disconnected");
		await this.#connection?.transport.close(reason);
	}

	/** Disconnects for good, and forgets its tools. */
	async close(): Promise<void> {
		this.#closed = true;
		await this.disconnect("no longer configured");
		this.#pool.registry.unconfigure(this.id);
	}

	/** Records that a call has ended. After one without an answer, the connection is checked at once. */
	called(outcome: CallRecord["outcome"]): void {
		this.lastUsed = performance.now();
		if (outcome === "timeout" && this.#connection?.isOpen && this.status === "connected") {
			void this.#ping(this.#connection);
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

	/** Settles when its tools are known. A server that rejects `initialize` is started again as one of 2026-07-28. */
	async #open(): Promise<Server> {
		try {
			return await this.#openAs(this.#isStateless ? STATELESS_ONLY : undefined);
		} catch (error) {
			this.#isStateless = !this.#isStateless && this.#connection?.transport.rejection !== undefined;
			if (!this.#isStateless || this.status !== "connecting") {
				throw error;
			}
			return await this.#openAs(STATELESS_ONLY);
		}
	}

	async #openAs(negotiation: VersionNegotiationMode | undefined): Promise<Server> {
		const { registry } = this.#pool;
		const { timeout } = this.config;
		const connection = new SdkConnection(this.config, this.#auth, negotiation);
		const { transport } = connection;
		transport.onstderr = (line) => this.#pool.emit("stderr", this, line);
		this.#connection = connection;
		const late = () => void transport.close(`Connection timeout after ${timeout}ms${transport.trouble}`);
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

	/** @throws Error if there is no room for the connection, which is closed then */
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
		connection.transport.ontrouble = () => void this.#ping(connection);
		this.#pingTimer = setInterval(() => {
			// A server that works on a call may answer nothing else.
			if (!server.busy) {
				void this.#ping(connection);
			}
		}, this.#pool.pingInterval);
		this.#changeStatus("connected");
		return server;
	}

	#lost(reason: string): void {
		clearInterval(this.#pingTimer);
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
	 * A server that has refused the connection would refuse it again until a person signs in, or the configuration changes: then
	 * this object is replaced.
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
