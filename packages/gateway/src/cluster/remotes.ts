import type { Msg } from "@nats-io/transport-node";
import type { Server, ServerRegistry, Store } from "xs-mcp-manager/core";
import type { Bus } from "./bus.js";
import { CLAIM } from "./claims.js";
import type { Members } from "./members.js";
import { type Claim, claimSchema, type Entry, eventSchema, readMessage, type Self } from "./messages.js";
import { RemoteConnection } from "./remote-connection.js";

/** Milliseconds until the cluster is asked for a device whose session has failed. */
const RETRY_TIME = 1_000;

/** Devices of other gateways, as servers of the registry: those with a claim of a gateway that is present. */
export class Remotes {
	/** Answers to calls of an earlier process are dropped. */
	readonly #self: Self;
	readonly #bus: Bus;
	readonly #registry: ServerRegistry;
	readonly #members: Members;
	readonly #store: Store;
	/** The sessions, by device. */
	readonly #connections = new Map<string, RemoteConnection>();
	/** The same by number, which is in the ids of their calls. */
	readonly #byNumber = new Map<number, RemoteConnection>();
	#count = 0;
	#isClosed = false;

	/** @param store the short-lived one */
	constructor(self: Self, bus: Bus, registry: ServerRegistry, members: Members, store: Store) {
		this.#self = self;
		this.#bus = bus;
		this.#registry = registry;
		this.#members = members;
		this.#store = store;
	}

	/** Follows the claims of others. Returns what ends it. */
	start(): () => void {
		const onRead = ({ id }: Server): void => this.#apply(id);
		this.#registry.on("read", onRead);
		const unwatch = this.#store.watch(CLAIM, (key) => this.#apply(key.slice(CLAIM.length)));
		this.applyAll();
		return () => {
			this.#registry.off("read", onRead);
			unwatch();
		};
	}

	/** Compares every device with its claim. */
	applyAll(): void {
		for (const id of new Set([...this.#claims.map(({ id }) => id), ...this.#connections.keys()])) {
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

	/** The gateways that have calls of this one in progress. */
	get awaited(): ReadonlySet<string> {
		const waiting = [...this.#byNumber.values()].filter(({ isWaiting }) => isWaiting);
		return new Set(waiting.map(({ identity }) => identity.gateway as string));
	}

	/** A part of the answer to a call. */
	answered(call: string, message: Msg): void {
		const [incarnation, number, id] = call.split("_");
		if (incarnation === this.#self.incarnation) {
			this.#byNumber.get(Number(number))?.answered(Number(id), message);
		}
	}

	/** A notification of a device, from a gateway. */
	notified(gateway: string, bytes: Uint8Array): void {
		const event = readMessage(eventSchema, bytes);
		const connection = event && this.#connections.get(event.device);
		if (event !== undefined && connection?.identity.gateway === gateway && connection.claim === event.claim) {
			connection.notified(event.method, event.params);
		}
	}

	/** Removes the claims that gateways which are gone have left for devices that nobody knows. */
	async removeUnknown(): Promise<void> {
		for (const { key, revision, id, claim } of this.#claims) {
			const isLeft = claim !== undefined && claim.gateway !== this.#self.name && !this.#isPresent(claim);
			if (isLeft && this.#registry.get(id) === undefined) {
				await this.#store.delete(key, revision).catch(() => {});
			}
		}
	}

	/** Ends the sessions with devices of others. */
	close(): void {
		this.#isClosed = true;
		for (const connection of [...this.#connections.values()]) {
			connection.close("shutting down");
		}
	}

	get #claims() {
		return this.#store.list(CLAIM).map(({ key, revision, value }) => {
			return { key, revision, id: key.slice(CLAIM.length), claim: claimSchema.safeParse(value).data };
		});
	}

	/** Whether another gateway has claimed a device, and has not ended since. */
	#isPresent({ gateway, incarnation }: Claim): boolean {
		return gateway !== this.#self.name && this.#members.has(gateway, incarnation);
	}

	/** Brings the session with a device in line with its claim. */
	#apply(id: string): void {
		const registry = this.#registry;
		const current = registry.get(id)?.connection;
		// A device in a session with this gateway is not remote.
		if (this.#isClosed || (current !== undefined && current.identity.gateway === undefined)) {
			return;
		}
		const claim = claimSchema.safeParse(this.#store.get(CLAIM + id)?.value).data;
		const isOnline = claim !== undefined && this.#isPresent(claim);
		const connection = this.#connections.get(id);
		if (connection !== undefined && (!isOnline || connection.claim !== claim.claim)) {
			connection.close(isOnline ? "the device has connected again" : "the device or its gateway has gone");
		}
		const server = registry.find(id);
		if (!isOnline || server === undefined) {
			return;
		}
		const { board, offers } = server;
		const entry: Entry = { ...claim, id, board, offers: registry.hashOf(offers) };
		const open = this.#connections.get(id);
		if (open === undefined) {
			this.#connect(entry, server);
		} else {
			open.update(entry, offers);
		}
	}

	#connect(entry: Entry, { offers }: Server): void {
		this.#count += 1;
		const number = this.#count;
		const replyTo = this.#bus.subjects.reply(this.#self.name, `${this.#self.incarnation}_${number}_`);
		const connection = new RemoteConnection(entry, offers, this.#bus, replyTo, () => {
			this.#byNumber.delete(number);
			if (this.#connections.get(entry.id) === connection) {
				this.#connections.delete(entry.id);
			}
		});
		this.#connections.set(entry.id, connection);
		this.#byNumber.set(number, connection);
		this.#registry.connect(connection);
	}
}
