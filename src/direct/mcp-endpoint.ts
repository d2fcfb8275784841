import type { TimerHandle, TimerModule } from "../hardware/timer.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import type { HttpConnection, HttpServer, HttpServerPlatform } from "../net/http-server.js";
import { deepFreeze } from "../text/deep-freeze.js";
import { MCP_PATH, type Rejection, type RequestRules } from "./check-request.js";
import { KnownClients } from "./known-clients.js";
import { type ConnectionOptions, ServedConnection } from "./served-connection.js";

export interface EndpointOptions {
	readonly platform: HttpServerPlatform;
	readonly port: number;
	readonly rules: RequestRules;
	/** Bytes of answers that may wait to be sent on a connection. */
	readonly maxQueuedBytes: number;
	readonly timer: TimerModule;
	/** A client is sent a notification or request of its call. */
	readonly onNotification: (text: string) => void;
	readonly log: (message: string) => void;
}

/** Connections served at the same time: each takes a part of the heap. */
const MAX_SERVED = 2;

/** Further ones that wait, unread, until one of these has ended; and for how long, ms. */
const MAX_WAITING = 4;
const WAIT_TIME = 5_000;

/** Further ones that get status 503. Beyond these, connections are closed at once. */
const MAX_REJECTED = 2;

const BUSY: Rejection = deepFreeze({
	status: 503,
	reason: `too many requests in progress (limit ${MAX_SERVED}): try again later`,
	header: ["retry-after", "1"],
} as const);

interface Waiting {
	readonly connection: HttpConnection;
	readonly timer: TimerHandle;
}

/**
 * Serves MCP by Streamable HTTP, without sessions
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http): every request has its
 * own connection, and is answered independently.
 */
export class McpEndpoint<Context> {
	readonly #server: McpServer<Context>;
	readonly #options: EndpointOptions;
	readonly #served = new Set<ServedConnection<Context>>();
	readonly #rejected = new Set<ServedConnection<Context>>();
	readonly #waiting: Waiting[] = [];
	readonly #clients = new KnownClients();
	#http: HttpServer | undefined;
	#announced: { close(): void } | undefined;

	constructor(server: McpServer<Context>, options: EndpointOptions) {
		this.#server = server;
		this.#options = options;
	}

	/** Opens the port and announces it, unless it is open. */
	online(): void {
		if (this.#http !== undefined) {
			return;
		}
		const { platform, port, log } = this.#options;
		try {
			this.#http = platform.open({
				port,
				onConnect: (connection) => this.#connect(connection),
				onListening: () => log(`serving MCP at ${platform.address}:${port}`),
				onError: (error) => this.#fail(error),
			});
			this.#announce();
		} catch (error) {
			this.#fail(error as Error);
		}
	}

	/** Closes the port and every connection. */
	offline(): void {
		this.#announced?.close();
		this.#announced = undefined;
		for (const { connection, timer } of this.#waiting.splice(0)) {
			this.#options.timer.clear(timer);
			connection.close();
		}
		for (const connection of [...this.#served, ...this.#rejected]) {
			connection.close();
		}
		this.#http?.close();
		this.#http = undefined;
	}

	#fail({ message }: Error): void {
		this.#options.log(`could not serve MCP at port ${this.#options.port}: ${message}`);
		this.offline();
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

	/** A response is offered to every call: only the one that asked takes it. */
	#handOn(response: object): void {
		for (const connection of this.#served) {
			connection.takeResponse(response);
		}
	}

	#connect(connection: HttpConnection): void {
		if (this.#served.size >= MAX_SERVED && this.#waiting.length === 0) {
			this.#closeSilent();
		}
		if (this.#served.size < MAX_SERVED) {
			this.#serve(connection);
		} else if (this.#waiting.length < MAX_WAITING) {
			const waiting: Waiting = {
				connection,
				timer: this.#options.timer.set(() => {
					this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
					this.#reject(connection);
				}, WAIT_TIME),
			};
			this.#waiting.push(waiting);
		} else {
			this.#reject(connection);
		}
	}

	#serve(connection: HttpConnection): void {
		const served: ServedConnection<Context> = new ServedConnection(connection, {
			...this.#connectionOptions(),
			onSilent: () => {
				if (this.#waiting.length > 0) {
					served.close();
				}
			},
			onEnd: () => {
				this.#served.delete(served);
				this.#serveNext();
			},
		});
		this.#served.add(served);
	}

	/** Makes room: a silent connection must not block an active one. */
	#closeSilent(): void {
		for (const connection of this.#served) {
			if (connection.isSilent) {
				connection.close();
				return;
			}
		}
	}

	#serveNext(): void {
		const next = this.#waiting.shift();
		if (next !== undefined) {
			this.#options.timer.clear(next.timer);
			this.#serve(next.connection);
		}
	}

	#reject(connection: HttpConnection): void {
		if (this.#rejected.size >= MAX_REJECTED) {
			connection.close();
			return;
		}
		const rejected: ServedConnection<Context> = new ServedConnection(connection, {
			...this.#connectionOptions(),
			rejection: BUSY,
			onSilent: () => rejected.close(),
			onEnd: () => this.#rejected.delete(rejected),
		});
		this.#rejected.add(rejected);
	}

	#connectionOptions(): Omit<ConnectionOptions<Context>, "onEnd" | "onSilent"> {
		return {
			...this.#options,
			server: this.#server,
			clients: this.#clients,
			onResponse: (response) => this.#handOn(response),
		};
	}
}
