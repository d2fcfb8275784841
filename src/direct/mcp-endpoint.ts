import type { Runtime } from "../hardware/timer.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import type { HttpConnection, HttpServer, HttpServerPlatform } from "../net/http-server.js";
import { MCP_PATH } from "./check-request.js";
import { KnownClients } from "./known-clients.js";
import { type ConnectionOptions, ServedConnection } from "./served-connection.js";

export interface EndpointOptions extends Pick<ConnectionOptions<never>, "rules" | "maxQueuedBytes" | keyof Runtime> {
	readonly platform: HttpServerPlatform;
	readonly port: number;
}

/** Connections served at the same time: each takes a part of the heap. Further ones wait in the network's queue. */
const MAX_SERVED = 3;

/**
 * Serves MCP by Streamable HTTP, without sessions
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http): every request has its
 * own connection, and is answered independently.
 */
export class McpEndpoint<Context> {
	private readonly server: McpServer<Context>;
	private readonly options: EndpointOptions;
	private readonly served = new Set<ServedConnection<Context>>();
	private readonly clients = new KnownClients();
	private http: HttpServer | undefined;
	private announced: { close(): void } | undefined;

	constructor(server: McpServer<Context>, options: EndpointOptions) {
		this.server = server;
		this.options = options;
	}

	/** Opens the port and announces it, unless it is open. */
	online(): void {
		if (this.http !== undefined) {
			return;
		}
		const { platform, port, log } = this.options;
		try {
			this.http = platform.open({
				port,
				mayConnect: () => this.mayConnect(),
				onConnect: (connection) => this.serve(connection),
				onListening: () => log(`serving MCP at ${platform.address}:${port}`),
				onError: (error) => this.fail(error),
			});
			this.announce();
		} catch (error) {
			this.fail(error as Error);
		}
	}

	/** Closes the port and every connection. */
	offline(): void {
		this.announced?.close();
		this.announced = undefined;
		const http = this.http;
		// Connections that end now make no room for others.
		this.http = undefined;
		for (const connection of [...this.served]) {
			connection.close();
		}
		http?.close();
	}

	private fail({ message }: Error): void {
		this.options.log(`could not serve MCP at port ${this.options.port}: ${message}`);
		this.offline();
	}

	private announce(): void {
		const { platform, port, rules } = this.options;
		this.announced = platform.announce?.({
			serviceType: "_mcp._tcp",
			name: `${this.server.name} ${rules.hostname.slice(-4)}`,
			host: rules.hostname,
			port,
			txt: { path: MCP_PATH },
		});
	}

	/** Makes room if necessary: a silent connection must not block others. */
	private mayConnect(): boolean {
		if (this.served.size >= MAX_SERVED) {
			for (const connection of this.served) {
				if (connection.isSilent) {
					connection.close();
					break;
				}
			}
		}
		return this.served.size < MAX_SERVED;
	}

	private serve(connection: HttpConnection): void {
		const resume = (): void => this.http?.resume();
		const served: ServedConnection<Context> = new ServedConnection(connection, {
			...this.options,
			server: this.server,
			clients: this.clients,
			// A response is offered to every call: only the one that asked takes it.
			onResponse: (response) => {
				for (const each of this.served) {
					each.takeResponse(response);
				}
			},
			onSilent: resume,
			onEnd: () => {
				this.served.delete(served);
				resume();
			},
		});
		this.served.add(served);
	}
}
