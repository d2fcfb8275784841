import { setTimeout as delay } from "node:timers/promises";
import type { Client, SubscriptionFilter } from "@modelcontextprotocol/client";
import { type JSONRPCMessage, ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { isObject } from "../../../src/text/is-object.js";
import { untilDisconnected } from "../clients/until-disconnected.js";
import { inRevision } from "./bridge-requests.js";
import { createBridgeServer, type GatewayEnd } from "./bridge-server.js";

/** Milliseconds between attempts to follow the gateway's changes again after the connection was lost. */
const RELISTEN_DELAY = 1_000;

/** Resources that the client may subscribe to. */
const MAX_SUBSCRIPTIONS = 1_000;

/**
 * Connects the client that started this process to a running gateway, and passes on all that it offers. The client's revision
 * and the gateway's may differ, and the gateway may start later, and restart. Rejects if `connecting` does.
 *
 * @param connecting a client of the gateway, in the stateless era; closed with the bridge
 * @returns a promise that settles when the client disconnects
 */
export async function bridgeStdio(connecting: Promise<Client>, onerror: (error: Error) => void): Promise<void> {
	const bridge = new Bridge(onerror);
	const transport = new StdioServerTransport();
	const handle = serveStdio(() => bridge.openServer(), { transport, onerror });
	const { onmessage } = transport;
	transport.onmessage = (message) => {
		bridge.watch(message);
		onmessage?.(message);
	};
	const disconnected = untilDisconnected(transport);
	const following = connecting.then((client) => bridge.follow(client));
	await Promise.race([disconnected, following.then(() => disconnected)]);
	bridge.stop();
	await handle.close();
	await bridge.client?.close();
}

/** Follows the gateway's changes for its clients. */
export class Bridge implements GatewayEnd {
	client: Client | undefined;
	readonly #onerror: (error: Error) => void;
	/** More than one while the client finds out which revision to speak. */
	readonly #servers = new Set<Server>();
	readonly #subscriptions = new Set<string>();
	readonly #stopping = new AbortController();
	/** Ends following the resources subscribed to, so that others can be followed. */
	#resources = new AbortController();

	constructor(onerror: (error: Error) => void) {
		this.#onerror = onerror;
	}

	openServer(): Server {
		const server = createBridgeServer(this);
		this.#servers.add(server);
		server.onclose = () => this.#servers.delete(server);
		return server;
	}

	/** Tells the client of changes, until {@link stop}. */
	async follow(client: Client): Promise<void> {
		this.client = client;
		const [tools, resources, prompts] = [
			() => this.#announce((server) => server.sendToolListChanged()),
			() => this.#announce((server) => server.sendResourceListChanged()),
			() => this.#announce((server) => server.sendPromptListChanged()),
		];
		client.setNotificationHandler("notifications/tools/list_changed", tools);
		client.setNotificationHandler("notifications/resources/list_changed", resources);
		client.setNotificationHandler("notifications/prompts/list_changed", prompts);
		client.setNotificationHandler("notifications/message", ({ params }) =>
			this.#announce((server) => server.sendLoggingMessage(inRevision(server, params))),
		);
		client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
			this.#announce((server) => server.sendResourceUpdated(inRevision(server, params))),
		);
		const announceLists = (): void => {
			tools();
			resources();
			prompts();
		};
		announceLists();
		await this.#followResources();
		const filter = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };
		await listen(client, filter, { onBack: announceLists, signal: this.#stopping.signal });
	}

	stop(): void {
		this.#stopping.abort();
	}

	async subscribe(uri: string): Promise<void> {
		if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `at most ${MAX_SUBSCRIPTIONS} subscriptions`);
		}
		if (!this.#subscriptions.has(uri)) {
			this.#subscriptions.add(uri);
			await this.#followResources();
		}
	}

	unsubscribe(uri: string): void {
		if (this.#subscriptions.delete(uri)) {
			void this.#followResources();
		}
	}

	/** A client of 2026-07-28 subscribes with a request that the SDK answers itself, and tells nobody about. */
	watch(message: JSONRPCMessage): void {
		const { method, params } = message as { method?: string; params?: { notifications?: unknown } };
		const filter = params?.notifications;
		if (method === "subscriptions/listen" && isObject(filter) && Array.isArray(filter.resourceSubscriptions)) {
			for (const uri of filter.resourceSubscriptions) {
				this.subscribe(String(uri)).catch(this.#onerror);
			}
		}
	}

	/** Settles after the first attempt. The resources followed before are followed until then: no update is lost. */
	async #followResources(): Promise<void> {
		const before = this.#resources;
		this.#resources = new AbortController();
		const uris = [...this.#subscriptions];
		if (this.client !== undefined && uris.length > 0) {
			const signal = AbortSignal.any([this.#resources.signal, this.#stopping.signal]);
			const onBack = (): void => {
				for (const uri of uris) {
					this.#announce((server) => server.sendResourceUpdated({ uri }));
				}
			};
			const client = this.client;
			await new Promise<void>((onTried) => {
				void listen(client, { resourceSubscriptions: uris }, { onTried, onBack, signal });
			});
		}
		before.abort();
	}

	#announce(send: (server: Server) => Promise<void>): void {
		for (const server of this.#servers) {
			send(server).catch(this.#onerror);
		}
	}
}

interface ListenOptions {
	/** Is called when the first attempt has ended. */
	readonly onTried?: () => void;
	/** Is called when the gateway is back: anything may have changed meanwhile. */
	readonly onBack: () => void;
	readonly signal: AbortSignal;
}

/** Asks the gateway for notifications, again whenever the connection was lost. */
async function listen(client: Client, filter: SubscriptionFilter, { onTried, onBack, signal }: ListenOptions) {
	let wasLost = false;
	while (!signal.aborted) {
		try {
			const subscription = await client.listen(filter, { signal });
			if (wasLost) {
				onBack();
			}
			onTried?.();
			await subscription.closed;
		} catch {
			// The gateway is not running: calls say so, and this tries again.
			onTried?.();
		}
		wasLost = true;
		await delay(RELISTEN_DELAY, undefined, { signal }).catch(() => {});
	}
	onTried?.();
}
