import type { Server, ServerRegistry, Store } from "xs-mcp-manager/core";
import { CLAIM } from "./claims.js";
import type { Members } from "./members.js";
import { type Claim, claimSchema, type Entry, eventSchema, readMessage } from "./messages.js";
import type { OutgoingCalls } from "./outgoing-calls.js";
import { RemoteTransport } from "./remote-transport.js";

interface RemotesOptions {
	readonly gateway: string;
	readonly registry: ServerRegistry;
	readonly members: Members;
	/** The short-lived one. */
	readonly store: Store;
	readonly calls: OutgoingCalls;
}

/** Milliseconds until the cluster is asked for a device whose session has failed. */
const RETRY_TIME = 1_000;

/** Devices of other gateways, as servers of the registry: those with a claim of a gateway that is present. */
export class Remotes {
	readonly #options: RemotesOptions;
	/** The sessions, by device. */
	readonly #transports = new Map<string, RemoteTransport>();
	#isClosed = false;

	constructor(options: RemotesOptions) {
		this.#options = options;
	}

	/**
	 * Follows the claims of others.
	 *
	 * @returns ends it
	 */
	start(): () => void {
		const { registry, store } = this.#options;
		const onRead = ({ id }: Server): void => this.#apply(id);
		registry.on("read", onRead);
		const unwatch = store.watch(CLAIM, (key) => this.#apply(key.slice(CLAIM.length)));
		this.applyAll();
		return () => {
			registry.off("read", onRead);
			unwatch();
		};
	}

	/** Compares every device with its claim. */
	applyAll(): void {
		for (const id of new Set([...this.#claims.map(({ id }) => id), ...this.#transports.keys()])) {
			this.#apply(id);
		}
	}

	/** A gateway has come, gone, or started again. */
	gatewayChanged(gateway: string): void {
		for (const { id } of this.#claims.filter(({ claim }) => claim?.gateway === gateway)) {
			this.#apply(id);
		}
	}

	/**
	 * A session of a device has ended: another gateway may have the device. A remote session that fails at once does so once a
	 * second.
	 */
	sessionEnded(id: string, wasHere: boolean): void {
		setTimeout(() => this.#apply(id), wasHere ? 0 : RETRY_TIME).unref();
	}

	/** A notification of a device, from a gateway. */
	notified(gateway: string, bytes: Uint8Array): void {
		const event = readMessage(eventSchema, bytes);
		const transport = event && this.#transports.get(event.device);
		if (event !== undefined && transport?.identity.gateway === gateway && transport.sessionId === event.claim) {
			transport.notified(event.method, event.params);
		}
	}

	/** Removes the claims that gateways which are gone have left for devices that nobody knows. */
	async removeUnknown(): Promise<void> {
		const { registry, store, members } = this.#options;
		for (const { key, revision, id, claim } of this.#claims) {
			const isLeft = claim !== undefined && !this.#isOwn(claim) && !members.has(claim.gateway, claim.incarnation);
			if (isLeft && registry.get(id) === undefined) {
				await store.delete(key, revision).catch(() => {});
			}
		}
	}

	/** Ends the sessions with devices of others. */
	close(): void {
		this.#isClosed = true;
		for (const transport of [...this.#transports.values()]) {
			void transport.close("shutting down");
		}
	}

	get #claims() {
		return this.#options.store.list(CLAIM).map(({ key, revision, value }) => {
			return { key, revision, id: key.slice(CLAIM.length), claim: claimSchema.safeParse(value).data };
		});
	}

	#isOwn({ gateway }: Claim): boolean {
		return gateway === this.#options.gateway;
	}

	/** Brings the session with a device in line with its claim. */
	#apply(id: string): void {
		const { registry, store, members } = this.#options;
		const session = registry.get(id)?.session;
		// A device in a session with this gateway is not remote.
		if (this.#isClosed || (session !== undefined && session.identity.gateway === undefined)) {
			return;
		}
		const claim = claimSchema.safeParse(store.get(CLAIM + id)?.value).data;
		const isOnline = claim !== undefined && !this.#isOwn(claim) && members.has(claim.gateway, claim.incarnation);
		const transport = this.#transports.get(id);
		if (transport !== undefined && (!isOnline || transport.sessionId !== claim.claim)) {
			void transport.close(isOnline ? "the device has connected again" : "the device or its gateway has gone");
		}
		const server = registry.find(id);
		if (!isOnline || server === undefined) {
			return;
		}
		const { board, offers } = server;
		const entry: Entry = { ...claim, id, board, offers: registry.hashOf(offers) };
		const open = this.#transports.get(id);
		if (open === undefined) {
			this.#connect(entry, server);
		} else {
			open.update(entry, offers);
		}
	}

	#connect(entry: Entry, { offers }: Server): void {
		const { registry, calls } = this.#options;
		const transport = new RemoteTransport(entry, offers, {
			calls,
			onClosed: () => {
				if (this.#transports.get(entry.id) === transport) {
					this.#transports.delete(entry.id);
				}
			},
		});
		this.#transports.set(entry.id, transport);
		registry.connect(transport);
	}
}
