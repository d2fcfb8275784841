import { EventEmitter } from "node:events";
import { type CallToolResult, isInputRequiredResult } from "@modelcontextprotocol/client";
import { ServerError } from "../core/errors.js";
import { type ServerTool, validItem } from "../core/offers.js";
import { type CallOptions, Session } from "../core/session.js";
import { ConfiguredTransport } from "../upstreams/configured-transport.js";
import type { ServerConfig } from "../upstreams/server-config.js";

/** Milliseconds for connecting. */
const CONNECT_TIMEOUT = 10_000;

/** Milliseconds for the schemas while there is no connection: the host waits for its list of tools. */
const SCHEMA_TIMEOUT = 5_000;

/** Milliseconds for the answer to a ping. */
const PING_TIMEOUT = 5_000;

interface Events {
	/** The upstream says that its list of tools is different. */
	toolsChanged: [];
}

/** The MCP server behind the proxy: at most one connection at a time. */
export class Upstream extends EventEmitter<Events> {
	readonly #config: ServerConfig;
	#session: Session | undefined;
	/** Of the session, or of the last one. */
	#transport: ConfiguredTransport | undefined;
	#connecting: Promise<void> | undefined;
	#lostReason = "not connected yet";

	constructor(config: ServerConfig) {
		super();
		this.#config = config;
	}

	get connected(): boolean {
		return this.#session !== undefined;
	}

	/** Why there is no connection. */
	get lostReason(): string {
		return this.#lostReason;
	}

	/** Connects, unless it is connected. Rejects with an Error that says why it could not. */
	connect(): Promise<void> {
		this.#connecting ??= this.#connect().finally(() => {
			this.#connecting = undefined;
		});
		return this.#connecting;
	}

	/** Whether the connection works: the upstream answers. If it does not, the connection is closed. */
	async check(): Promise<boolean> {
		const session = this.#session;
		try {
			await session?.ping(PING_TIMEOUT);
		} catch (error) {
			// A server that answers with an error works.
			if (error instanceof ServerError) {
				session?.close(error.message);
			}
		}
		return session !== undefined && session === this.#session;
	}

	/** The valid tools, over the connection, or else over one that is closed afterwards. Rejects if there is no answer. */
	async listTools(): Promise<ServerTool[]> {
		if (this.#session !== undefined) {
			return await toolsOf(this.#session);
		}
		const { session, transport } = await this.#open(SCHEMA_TIMEOUT);
		try {
			return await toolsOf(session);
		} finally {
			void transport.close("the tools are listed");
		}
	}

	/** Rejects as {@link Session.callTool} does, and with ServerError "server-offline" if there is no connection. */
	async callTool(name: string, args: object, options: CallOptions = {}): Promise<CallToolResult> {
		if (this.#session === undefined) {
			throw new ServerError("server-offline", this.#lostReason);
		}
		const result = await this.#session.callTool(name, args, { timeout: this.#config.timeout, ...options });
		if (isInputRequiredResult(result)) {
			throw new ServerError("invalid-result", "the upstream requires input, which the proxy does not support");
		}
		return result;
	}

	/** Ends the connection. Settles when the upstream has been told, as far as it can be. */
	async disconnect(reason: string): Promise<void> {
		await this.#transport?.close(reason);
	}

	async #connect(): Promise<void> {
		if (this.#session !== undefined) {
			return;
		}
		const { session, transport } = await this.#open(CONNECT_TIMEOUT);
		if (!session.connected) {
			throw new Error("the connection closed immediately");
		}
		this.#session = session;
		this.#transport = transport;
		transport.ontrouble = () => void this.check();
		session.on("notification", (method) => {
			if (method === "notifications/tools/list_changed") {
				this.emit("toolsChanged");
			}
		});
		session.once("closed", (reason) => {
			this.#session = undefined;
			this.#lostReason = reason;
		});
	}

	/** Begins a session. Rejects with the reason if there is none within `timeout` milliseconds. */
	async #open(timeout: number): Promise<{ session: Session; transport: ConfiguredTransport }> {
		const transport = new ConfiguredTransport(this.#config);
		const session = new Session(transport);
		const late = `no answer within ${timeout} ms`;
		const timer = setTimeout(() => void transport.close(late + transport.trouble), timeout);
		try {
			await session.initialize();
			return { session, transport };
		} catch (error) {
			throw new Error(transport.closeReason || (error as Error).message, { cause: error });
		} finally {
			clearTimeout(timer);
		}
	}
}

async function toolsOf(session: Session): Promise<ServerTool[]> {
	const tools = await session.list("tools", { signal: AbortSignal.timeout(SCHEMA_TIMEOUT) });
	return tools.map((tool) => validItem("tools", tool)).filter((tool) => tool !== undefined);
}
