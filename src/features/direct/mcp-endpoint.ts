import type { Application } from "../../core/application.js";
import { readDirectConfig } from "../../core/config.js";
import { AppPart, type Feature, type Listener } from "../../core/listener.js";
import type { Client } from "../../mcp_server/client.js";
import type { HttpServer, HttpServerPlatform } from "../../protocols/http-server.js";
import { messageLimits } from "../../protocols/transport.js";
import { MCP_PATH, type RequestRules } from "./check-request.js";
import { ServedConnection } from "./served-connection.js";

/** Connections served at the same time: each takes a part of the heap. Further ones wait in the network's queue. */
const MAX_SERVED = 3;

/**
 * Serves MCP clients on the network without a gateway, if the setting `http` names a port. A device that listens on
 * more than loopback needs a token: the setting `httpToken`. It serves two requests at a time.
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

/** Serves MCP by Streamable HTTP without sessions: each request has its own connection. */
export class McpEndpoint extends AppPart implements Listener {
	readonly clients = new KnownClients();
	readonly rules: RequestRules;
	/** Bytes of answers that may wait to be sent on a connection. */
	readonly maxQueuedBytes: number;
	private readonly platform: HttpServerPlatform;
	private readonly port: number;
	private readonly served = new Set<ServedConnection>();
	private http: HttpServer | undefined;
	private announced: { close(): void } | undefined;

	constructor(
		app: Application,
		platform: HttpServerPlatform,
		{ port, token }: { readonly port: number; readonly token: string },
	) {
		super(app);
		const { maxMessageBytes, maxQueuedBytes } = messageLimits(app.setting("chunkBytes"));
		this.platform = platform;
		this.port = port;
		this.rules = {
			token,
			hostname: app.hostname,
			maxBytes: Math.floor(maxMessageBytes / 2),
		};
		this.maxQueuedBytes = Math.floor(maxQueuedBytes / 2);
	}

	/** Opens the port and announces it, unless it is open. */
	onOnline(): void {
		if (this.http !== undefined) {
			return;
		}
		const { platform, port, rules, app } = this;
		try {
			this.http = platform.open({
				port,
				mayConnect: () => {
					// A silent connection must not block others.
					if (this.served.size >= MAX_SERVED) {
						[...this.served].find(({ isSilent }) => isSilent)?.close();
					}
					return this.served.size < MAX_SERVED;
				},
				onConnect: (connection) => void this.served.add(new ServedConnection(connection, this)),
				onListening: () => app.log(`serving MCP at ${platform.address}:${port}`),
				onError: (error) => this.fail(error),
			});
			const service = {
				serviceType: "_mcp._tcp",
				name: `${app.server.name} ${rules.hostname.slice(-4)}`,
				host: rules.hostname,
				port,
				txt: { path: MCP_PATH },
			};
			this.announced = platform.announce?.(service, app.log);
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

/** Limit of known clients. Beyond it the least recently seen one is forgotten. */
const MAX_CLIENTS = 4;

/** Capabilities of clients up to 2025-11-25, by `Mcp-Session-Id`. A forgotten client is served without them. */
class KnownClients {
	/** The most recently seen one comes last. */
	private readonly clients = new Map<string, Client>();

	/** @returns the client's id from now on */
	add(client: Client): string {
		for (const id of this.clients.keys()) {
			if (this.clients.size >= MAX_CLIENTS) {
				this.clients.delete(id);
			}
		}
		const id = `${randomDigits()}${randomDigits()}`;
		this.clients.set(id, client);
		return id;
	}

	find(id = ""): Client | undefined {
		const client = this.clients.get(id);
		if (client !== undefined) {
			this.clients.delete(id);
			this.clients.set(id, client);
		}
		return client;
	}
}

const randomDigits = (): string => Math.random().toString(16).slice(2);
