import { setTimeout as delay } from "node:timers/promises";
import type { Client, SubscriptionFilter } from "@modelcontextprotocol/client";
import { type JSONRPCMessage, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { untilDisconnected } from "xs-mcp-manager/core";
import { isListen, listenedUris } from "../catalog/follow.js";
import { BridgeServer, type GatewayEnd } from "./bridge-server.js";

/** Milliseconds between attempts to follow the gateway's changes again after the connection was lost. */
const RELISTEN_DELAY = 1_000;

/** Most resources that the client may subscribe to. */
const MAX_SUBSCRIPTIONS = 1_000;

/**
 * Connects the client that started this process to a running gateway, which serves it as over HTTP. The client's revision
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

/** Connects one client, or one after another, to the gateway, and follows the gateway's changes for it. */
export class Bridge implements GatewayEnd {
	client: Client | undefined;
	readonly #onerror: (error: Error) => void;
	/** More than one while the client negotiates the revision. */
	readonly #servers = new Set<BridgeServer>();
	/** Resources that the client has subscribed to in its session. */
	readonly #subscriptions = new Set<string>();
	/** Those that each `subscriptions/listen` names, by the id of the request. */
	readonly #listens = new Map<unknown, readonly string[]>();
	readonly #stopping = new AbortController();
	/** Stops following the subscribed resources, so that others can be followed. */
	#resources = new AbortController();

	constructor(onerror: (error: Error) => void) {
		this.#onerror = onerror;
	}

	openServer(): BridgeServer {
		const server = new BridgeServer(this);
		this.#servers.add(server);
		server.onclose = () => this.#closed(server);
		return server;
	}

	/** Notifies the client of changes, until {@link stop}. */
	async follow(client: Client): Promise<void> {
		this.client = client;
		const lists = ["tools", "resources", "prompts"] as const;
		const announceLists = (): void => {
			for (const list of lists) {
				this.#announceList(list);
			}
		};
		for (const list of lists) {
			client.setNotificationHandler(`notifications/${list}/list_changed`, () => this.#announceList(list));
		}
		for (const method of ["notifications/resources/updated", "notifications/message"] as const) {
			client.setNotificationHandler(method, ({ params }) =>
				this.#announce((server) => server.notification({ method, params: server.inRevision(params) } as never)),
			);
		}
		await this.#followResources();
		const filter = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };
		// Also the first time: what changed since the client connected, nobody has told.
		await listen(client, filter, { onListening: announceLists, signal: this.#stopping.signal });
	}

	stop(): void {
		this.#stopping.abort();
	}

	async subscribe(uri: string): Promise<void> {
		if (!this.#subscriptions.has(uri)) {
			this.#checkRoom([uri]);
			this.#subscriptions.add(uri);
			await this.#followResources();
		}
	}

	unsubscribe(uri: string): void {
		if (this.#subscriptions.delete(uri)) {
			void this.#followResources();
		}
	}

	/** A client of 2026-07-28 subscribes with a request that the SDK answers itself, without an event. */
	watch(message: JSONRPCMessage): void {
		const { id, method, params } = message as { id?: unknown; method?: string; params?: { requestId?: unknown } };
		if (isListen(message) && !this.#listens.has(id)) {
			const uris = listenedUris(message);
			try {
				this.#checkRoom(uris);
			} catch (error) {
				this.#onerror(error as Error);
				return;
			}
			if (uris.length > 0) {
				this.#listens.set(id, uris);
				void this.#followResources();
			}
		} else if (method === "notifications/cancelled" && this.#listens.delete(params?.requestId)) {
			void this.#followResources();
		}
	}

	/** Subscriptions of a session end with it. */
	#closed(server: BridgeServer): void {
		this.#servers.delete(server);
		if (this.#servers.size === 0 && this.#subscriptions.size > 0) {
			this.#subscriptions.clear();
			void this.#followResources();
		}
	}

	/** The resources that the client follows. */
	get #followed(): string[] {
		return [...new Set([...this.#subscriptions, ...[...this.#listens.values()].flat()])];
	}

	/** @throws ProtocolError if the client would follow too many resources */
	#checkRoom(uris: readonly string[]): void {
		if (new Set([...this.#followed, ...uris]).size > MAX_SUBSCRIPTIONS || this.#listens.size >= MAX_SUBSCRIPTIONS) {
			throw new ProtocolError(ProtocolErrorCode.InvalidParams, `too many subscriptions (limit ${MAX_SUBSCRIPTIONS})`);
		}
	}

	/** Settles after the first attempt. The resources followed before are followed until then: no update is lost. */
	async #followResources(): Promise<void> {
		const before = this.#resources;
		this.#resources = new AbortController();
		const uris = this.#followed;
		if (this.client !== undefined && uris.length > 0) {
			const signal = AbortSignal.any([this.#resources.signal, this.#stopping.signal]);
			const onListening = (wasLost: boolean): void => {
				for (const uri of wasLost ? uris : []) {
					this.#announce((server) => server.sendResourceUpdated({ uri }));
				}
			};
			const client = this.client;
			await new Promise<void>((onTried) => {
				void listen(client, { resourceSubscriptions: uris }, { onTried, onListening, signal });
			});
		}
		before.abort();
	}

	#announceList(list: "tools" | "resources" | "prompts"): void {
		this.#announce((server) => server.notification({ method: `notifications/${list}/list_changed` }));
	}

	#announce(send: (server: BridgeServer) => Promise<void>): void {
		for (const server of this.#servers) {
			send(server).catch(this.#onerror);
		}
	}
}

interface ListenOptions {
	/** Is called when the first attempt has ended. */
	readonly onTried?: () => void;
	/** Is called each time that the gateway notifies from now on. `wasLost`: anything may have changed meanwhile. */
	readonly onListening: (wasLost: boolean) => void;
	readonly signal: AbortSignal;
}

/** Asks the gateway for notifications, again whenever the connection was lost. */
async function listen(client: Client, filter: SubscriptionFilter, { onTried, onListening, signal }: ListenOptions) {
	let wasLost = false;
	while (!signal.aborted) {
		try {
			const subscription = await client.listen(filter, { signal });
			onListening(wasLost);
			onTried?.();
			await subscription.closed;
		} catch {
			// The gateway is not running: calls fail with that error, and this tries again.
			onTried?.();
		}
		wasLost = true;
		await delay(RELISTEN_DELAY, undefined, { signal }).catch(() => {});
	}
	onTried?.();
}
