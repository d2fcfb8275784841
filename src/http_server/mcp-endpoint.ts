import { deepFreeze } from "../deep-freeze.js";
import type { TimerModule } from "../hardware/timer.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import { MCP_PATH, type Rejection, type RequestRules } from "./check-request.js";
import type { HttpConnection, HttpServer, HttpServerPlatform } from "./http-server.js";
import { KnownClients } from "./known-clients.js";
import { ServedConnection } from "./served-connection.js";

export interface EndpointOptions {
	readonly platform: HttpServerPlatform;
	readonly port: number;
	readonly rules: RequestRules;
	/** Bytes of answers that may wait to be sent on a connection. */
	readonly maxQueuedBytes: number;
	readonly timer: TimerModule;
	readonly log: (message: string) => void;
}

/** Connections that are served at a time: each takes a part of the heap. */
const MOST_SERVED = 2;

/** Further ones at a time that are told so. Beyond these, connections are closed at once. */
const MOST_REJECTED = 2;

const BUSY: Rejection = deepFreeze({
	status: 503,
	reason: `this device serves ${MOST_SERVED} requests at a time: try again in a second`,
	header: ["retry-after", "1"],
} as const);

/**
 * Serves MCP by Streamable HTTP, without sessions
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http): every request has a
 * connection of its own, and is answered by itself.
 */
export class McpEndpoint<Context> {
	readonly #server: McpServer<Context>;
	readonly #options: EndpointOptions;
	readonly #connections = new Set<ServedConnection<Context>>();
	readonly #clients = new KnownClients();
	#http: HttpServer | undefined;
	#announced: { close(): void } | undefined;

	constructor(server: McpServer<Context>, options: EndpointOptions) {
		this.#server = server;
		this.#options = options;
	}

	/** Opens the port and announces it, unless it is open. */
	open(): void {
		if (this.#http !== undefined) {
			return;
		}
		const { platform, port, log } = this.#options;
		try {
			this.#http = platform.open({
				port,
				onConnect: (connection) => this.#connect(connection),
				onError: (error) => this.#fail(error),
			});
			this.#announce();
			log(`MCP is served at port ${port} of ${platform.address}`);
		} catch (error) {
			this.#fail(error as Error);
		}
	}

	/** Closes the port and every connection. */
	close(): void {
		this.#announced?.close();
		this.#announced = undefined;
		for (const connection of this.#connections) {
			connection.close();
		}
		this.#http?.close();
		this.#http = undefined;
	}

	#fail({ message }: Error): void {
		this.#options.log(`MCP is not served at port ${this.#options.port}: ${message}`);
		this.close();
	}

	#announce(): void {
		const { platform, port, rules } = this.#options;
		this.#announced = platform.announce?.({
			serviceType: "_mcp._tcp",
			name: `${this.#server.name} ${rules.hostname.slice(-4)}`,
			host: rules.hostname,
			port,
			txt: { path: MCP_PATH },
		});
	}

	/** A response goes to the call that has asked: another one takes no notice of it. */
	#handOn(response: object): void {
		for (const connection of this.#connections) {
			connection.takeResponse(response);
		}
	}

	#connect(connection: HttpConnection): void {
		const count = this.#connections.size;
		if (count >= MOST_SERVED + MOST_REJECTED) {
			connection.close();
			return;
		}
		const served: ServedConnection<Context> = new ServedConnection(connection, {
			...this.#options,
			server: this.#server,
			clients: this.#clients,
			...(count >= MOST_SERVED && { rejection: BUSY }),
			onResponse: (response) => this.#handOn(response),
			onEnd: () => this.#connections.delete(served),
		});
		this.#connections.add(served);
	}
}
