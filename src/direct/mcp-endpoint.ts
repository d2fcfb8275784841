import type { Application, Feature, Listener } from "../app/application.js";
import type { Hardware } from "../hardware/hardware.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import type { HttpConnection, HttpServer, HttpServerPlatform } from "../net/http-server.js";
import { type DirectConfig, readDirectConfig } from "../settings/config.js";
import { hostnameOf } from "../text/hostname.js";
import { MCP_PATH, type RequestRules } from "./check-request.js";
import { KnownClients } from "./known-clients.js";
import { ServedConnection } from "./served-connection.js";

/** Members of the application that the endpoint needs. */
type EndpointApp = Pick<Application, "server" | "timer" | "log" | "limits" | "id">;

/** Connections served at the same time: each takes a part of the heap. Further ones wait in the network's queue. */
const MAX_SERVED = 3;

/**
 * Serves MCP clients on the network without a gateway, if the setting `http` names a port. A device that listens on
 * more than loopback needs a token: the setting `httpToken`. Two requests are served at a time, beside the backend's
 * messages.
 */
export const directFeature = (platform: HttpServerPlatform): Feature => ({
	name: "direct",
	rescue: true,
	start(app) {
		const config = readDirectConfig(app.source, platform.address);
		if (config !== undefined) {
			app.backend.isOptional = true;
			app.listen(new McpEndpoint(app, platform, config));
		}
	},
});

/**
 * Serves MCP by Streamable HTTP, without sessions
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http): every request has its
 * own connection, and is answered independently.
 */
export class McpEndpoint implements Listener {
	readonly app: EndpointApp;
	readonly clients = new KnownClients();
	readonly rules: RequestRules;
	/** Bytes of answers that may wait to be sent on a connection. */
	readonly maxQueuedBytes: number;
	private readonly platform: HttpServerPlatform;
	private readonly port: number;
	private readonly served = new Set<ServedConnection>();
	private http: HttpServer | undefined;
	private announced: { close(): void } | undefined;

	constructor(app: EndpointApp, platform: HttpServerPlatform, { port, token }: DirectConfig) {
		const { maxMessageBytes, maxQueuedBytes } = app.limits;
		this.app = app;
		this.platform = platform;
		this.port = port;
		this.rules = { token, hostname: hostnameOf(app.id), maxBytes: Math.floor(maxMessageBytes / 2) };
		this.maxQueuedBytes = Math.floor(maxQueuedBytes / 2);
	}

	get server(): McpServer<Hardware> {
		return this.app.server;
	}

	/** Opens the port and announces it, unless it is open. */
	onOnline(): void {
		if (this.http !== undefined) {
			return;
		}
		const { platform, port, app } = this;
		try {
			this.http = platform.open({
				port,
				mayConnect: () => this.mayConnect(),
				onConnect: (connection) => this.serve(connection),
				onListening: () => app.log(`serving MCP at ${platform.address}:${port}`),
				onError: (error) => this.fail(error),
			});
			this.announce();
		} catch (error) {
			this.fail(error as Error);
		}
	}

	/** Closes the port and every connection. */
	onOffline(): void {
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
		this.app.log(`could not serve MCP at port ${this.port}: ${message}`);
		this.onOffline();
	}

	private announce(): void {
		const { platform, port, rules } = this;
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
		this.served.add(new ServedConnection(connection, this));
	}

	/** Offers a response to every call: only the one that asked takes it. */
	passResponse(response: object): void {
		for (const each of this.served) {
			each.takeResponse(response);
		}
	}

	/** Lets a waiting connection replace one that has become {@link ServedConnection.isSilent silent}. */
	onSilent(): void {
		this.http?.resume();
	}

	/** Makes room for the next connection. */
	onEnd(connection: ServedConnection): void {
		this.served.delete(connection);
		this.http?.resume();
	}
}
