import type { Application, Feature, Listener } from "../app/application.js";
import type { Hardware } from "../hardware/hardware.js";
import type { HttpConnection, HttpServer, HttpServerPlatform } from "../net/http-server.js";
import { readDirectConfig } from "../settings/config.js";
import { hostnameOf } from "../text/hostname.js";
import { MCP_PATH } from "./check-request.js";
import { KnownClients } from "./known-clients.js";
import { type ConnectionOptions, ServedConnection } from "./served-connection.js";

interface EndpointOptions extends Pick<ConnectionOptions<never>, "rules" | "maxQueuedBytes"> {
	readonly platform: HttpServerPlatform;
	readonly port: number;
}

/** Members of the application that the endpoint needs. */
type EndpointApp = Pick<Application, "server" | "timer" | "log">;

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
		if (config === undefined) {
			return;
		}
		const { port, token } = config;
		const { maxMessageBytes, maxQueuedBytes } = app.limits;
		const rules = { token, hostname: hostnameOf(app.id), maxBytes: Math.floor(maxMessageBytes / 2) };
		app.backend.isOptional = true;
		app.listen(new McpEndpoint(app, { platform, port, rules, maxQueuedBytes: Math.floor(maxQueuedBytes / 2) }));
	},
});

/**
 * Serves MCP by Streamable HTTP, without sessions
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http): every request has its
 * own connection, and is answered independently.
 */
class McpEndpoint implements Listener {
	private readonly app: EndpointApp;
	private readonly options: EndpointOptions;
	private readonly served = new Set<ServedConnection<Hardware>>();
	private readonly clients = new KnownClients();
	private http: HttpServer | undefined;
	private announced: { close(): void } | undefined;

	constructor(app: EndpointApp, options: EndpointOptions) {
		this.app = app;
		this.options = options;
	}

	/** Opens the port and announces it, unless it is open. */
	onOnline(): void {
		if (this.http !== undefined) {
			return;
		}
		const { platform, port } = this.options;
		const { log } = this.app;
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
		this.app.log(`could not serve MCP at port ${this.options.port}: ${message}`);
		this.onOffline();
	}

	private announce(): void {
		const { platform, port, rules } = this.options;
		this.announced = platform.announce?.({
			serviceType: "_mcp._tcp",
			name: `${this.app.server.name} ${rules.hostname.slice(-4)}`,
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
		const { server, timer, log } = this.app;
		const served: ServedConnection<Hardware> = new ServedConnection(connection, {
			...this.options,
			server,
			timer,
			log,
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
