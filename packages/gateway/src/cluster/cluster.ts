import { randomUUID } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import type { Connection, Entry, Server, ServerRegistry, Store } from "xs-mcp-manager/core";
import type { EventLog } from "../events/event-log.js";
import { type Bus, hasNoResponder } from "./bus.js";
import { Claims, isLaterVersion } from "./claims.js";
import { IncomingCalls } from "./incoming-calls.js";
import { Members } from "./members.js";
import { type Call, type Lease, VERSION } from "./messages.js";
import { Remotes } from "./remotes.js";
import { SharedEvents } from "./shared-events.js";

/** A {@link Cluster.status}, for the operator. */
export type ClusterStatus = Cluster["status"];

export interface ClusterOptions {
	/** Of this gateway. No two have the same. */
	readonly name: string;
	/** Calls, events and the devices' notifications. */
	readonly bus: Bus;
	/** All that lasts: the registry has the devices from it. */
	readonly store: Store;
	/** Leases of gateways, and which one has which device. */
	readonly shortLived: Store;
	/** Version of the program. */
	readonly program: string;
	readonly registry: ServerRegistry;
	/** The log of the devices' events. */
	readonly log: EventLog;
	/** Differs if this gateway's `device-key` does. */
	readonly key: string;
	/** Clients in a session. */
	readonly clients: () => number;
	readonly info: (message: string) => void;
	readonly warn: (message: string) => void;
	/** Called with each attempt to store an event, and the error if it failed. */
	readonly onStored?: (problem: Error | undefined) => void;
}

/** Interval of the checks of leases, calls and changes, ms. */
const TICK = 500;

/** Interval of the checks for claims that are left, ms. */
const TIDY_INTERVAL = 60_000;

/** Milliseconds for the farewell: NATS may not answer. */
const LEAVE_TIME = 2_000;

/** Lists are read again when the record of their device says so. */
const LIST_CHANGED = /\/list_changed$/;

/**
 * Makes gateways on one store one gateway: each has the devices of the others in its registry, as servers like its own.
 * docs/gateway/cluster.md says what is stored and sent.
 */
export class Cluster {
	readonly #options: ClusterOptions;
	/** The part of this gateway's lease that stays, and whether it is about to stop. */
	readonly #self: Pick<Lease, "v" | "incarnation" | "program" | "since" | "key"> & { draining: boolean };
	readonly #members: Members;
	readonly #claims: Claims;
	readonly #remotes: Remotes;
	readonly #incoming: IncomingCalls;
	readonly #events: SharedEvents;
	/** Keys of gateways whose messages this program cannot read. */
	readonly #newer = new Set<string>();
	readonly #warn = ({ message }: Error): void => this.#options.warn(`cluster: ${message}`);
	/** Ends what the present connection has opened. */
	#connection = new AbortController();
	/** Whether this gateway has shown itself in the present connection. */
	#hasEntered = false;
	#isEntering = false;
	/** The attempt to renew the lease. */
	#renewing: Promise<void> | undefined;
	#closers: (() => void)[] = [];

	private constructor(options: ClusterOptions) {
		const { name: gateway, program, key, registry, bus, shortLived, log, warn } = options;
		const incarnation = randomUUID();
		this.#options = options;
		this.#self = { v: VERSION, incarnation, program, since: Date.now(), key, draining: false };
		this.#members = new Members(gateway, shortLived, (name, before) => this.#memberChanged(name, before));
		this.#incoming = new IncomingCalls(bus, (call) => this.#deviceOf(call));
		const onLost = (connection: Connection, other: string): void =>
			connection.close(`the device has connected to gateway ${other}`);
		this.#claims = new Claims({ gateway, incarnation, store: shortLived, onLost, warn });
		const members = this.#members;
		this.#remotes = new Remotes({ gateway, incarnation, bus, registry, members, store: shortLived });
		this.#events = new SharedEvents(log, warn, options.onStored);
	}

	/** Joins. Rejects with an Error if another gateway has the name, or NATS refuses a subscription. */
	static async join(options: ClusterOptions): Promise<Cluster> {
		const cluster = new Cluster(options);
		try {
			await cluster.#start();
		} catch (error) {
			await cluster.close();
			throw error;
		}
		return cluster;
	}

	/** Names this process among all that this gateway had and will have. */
	get incarnation(): string {
		return this.#self.incarnation;
	}

	/** Whether a gateway is present, and has not started again since. */
	isPresent(gateway: string, incarnation: string): boolean {
		return this.#members.has(gateway, incarnation);
	}

	/** The cluster, as this gateway sees it: whether NATS can be reached, and the gateways, this one first. */
	get status() {
		const { name } = this.#options;
		const gateways = [{ ...this.#lease(), name }, ...this.#members.present].map(({ program, since, ...lease }) => {
			const { name, devices, clients, calls, draining } = lease;
			return { name, version: program, since: new Date(since).toISOString(), devices, clients, calls, draining };
		});
		return { name, connected: this.#isConnected, gateways };
	}

	/** This gateway is about to stop: it takes no new calls of others. */
	async drain(): Promise<void> {
		this.#self.draining = true;
		await this.#renew(true).catch(() => {});
	}

	/** Leaves: devices are offline for the others, until they connect to another gateway. */
	async close(): Promise<void> {
		for (const close of this.#closers.splice(0).reverse()) {
			close();
		}
		this.#remotes.close();
		// If it cannot, the lease expires.
		const left = this.#leave().catch(() => {});
		await Promise.race([left, new Promise((resolve) => setTimeout(resolve, LEAVE_TIME).unref())]);
		this.#connection.abort();
	}

	get #isConnected(): boolean {
		const { bus, store, shortLived } = this.#options;
		return bus.connected && store.isConnected && shortLived.isConnected;
	}

	async #leave(): Promise<void> {
		if (this.#isConnected && this.#hasEntered) {
			await this.#claims.flush();
			await this.#events.flush();
			await this.#members.leave();
			await this.#options.bus.flush();
		}
	}

	async #start(): Promise<void> {
		const { bus, shortLived } = this.#options;
		await this.#expectName();
		this.#subscribe();
		await bus.expectSubscriptions();
		const onLost = (): void => this.#onLost();
		const onBack = (): void => void this.#enter();
		shortLived.on("disconnected", onLost).on("connected", onBack);
		this.#closers = [
			() => shortLived.off("disconnected", onLost).off("connected", onBack),
			this.#members.start(),
			this.#claims.start(),
			this.#remotes.start(),
			shortLived.watch("gateway/", (key, entry) => this.#checkVersion(key, entry)),
			this.#shareDevices(),
		];
		await this.#enter(true);
		for (const [interval, run] of [
			[TICK, () => this.#check()],
			[TIDY_INTERVAL, () => void this.#remotes.removeUnknown()],
		] as const) {
			const timer = setInterval(run, interval);
			this.#closers.push(() => clearInterval(timer));
		}
	}

	/** Rejects if a gateway with this name runs: its subject has a receiver. */
	async #expectName(): Promise<void> {
		const { name, bus, shortLived } = this.#options;
		const isUsed = shortLived.get(`gateway/${name}`) !== undefined;
		if (isUsed && (await bus.hasReceiver(bus.subjects.ping(name)))) {
			throw new Error(`another gateway of the cluster is named ${name}: choose another name with --cluster-name`);
		}
	}

	#subscribe(): void {
		const { name, bus } = this.#options;
		const prefix = bus.subjects.all(name).slice(0, -1);
		bus.subscribe(bus.subjects.all(name), (message) => {
			const [kind, detail = ""] = message.subject.slice(prefix.length).split(".");
			if (kind === "reply") {
				this.#remotes.answered(detail, message);
			} else if (kind === "call") {
				this.#incoming.received(message).catch(this.#warn);
			} else if (kind === "cancel") {
				this.#incoming.cancelled(message);
			} else if (kind === "pong" && hasNoResponder(message)) {
				this.#members.gone(detail);
			}
		});
		bus.subscribe(bus.subjects.events, ({ subject, data }: Msg) =>
			this.#remotes.notified(subject.slice(bus.subjects.event("").length), data),
		);
	}

	/** Tells the cluster what happens to the devices that are connected to this gateway. Returns what ends it. */
	#shareDevices(): () => void {
		const { name, registry, bus } = this.#options;
		const online = (server: Server): void => {
			if (server.connection !== undefined && isHere(server.connection)) {
				this.#claims.begin(server, server.connection);
			}
		};
		const disconnected = (_server: Server, connection: Connection): void => {
			const { id } = connection.identity;
			if (isHere(connection)) {
				this.#incoming.deviceGone(id);
				this.#claims.end(connection);
			}
			this.#remotes.sessionEnded(id, isHere(connection));
		};
		const notification = (
			{ id: device, connection }: Server,
			method: string,
			params: Readonly<Record<string, unknown>>,
		): void => {
			const claim = this.#claims.claimOf(device);
			if (claim !== undefined && connection !== undefined && isHere(connection) && !LIST_CHANGED.test(method)) {
				const event = { v: VERSION, device, claim, method, params };
				if (bus.connected && Buffer.byteLength(JSON.stringify(event)) <= bus.maxBytes) {
					bus.publish(bus.subjects.event(name), event);
				}
			}
		};
		registry.on("online", online).on("disconnected", disconnected).on("notification", notification);
		return () => registry.off("online", online).off("disconnected", disconnected).off("notification", notification);
	}

	#deviceOf({ device, claim }: Call): Server | string {
		const gateway = `gateway ${this.#options.name}, which has the device,`;
		if (this.#self.draining) {
			return `${gateway} is about to stop`;
		}
		if (!this.#members.holdsLease) {
			return `${gateway} did not run for a while, so that the call may be too old: try again`;
		}
		return this.#claims.serverOf(device, claim) ?? "the device has disconnected, or has gone to another gateway";
	}

	#onLost(): void {
		this.#connection.abort(new Error("the connection to NATS is lost"));
		this.#events.leave();
		if (this.#hasEntered) {
			this.#hasEntered = false;
			this.#options.warn("cluster: the connection to NATS is lost: devices of other gateways are offline");
		}
		this.#members.clear();
	}

	/** Shows that this gateway is here, and reads what the others have stored. Tried again by {@link #check}; at the start it rejects. */
	async #enter(isStart = false): Promise<void> {
		if (this.#isEntering || this.#hasEntered || !this.#isConnected) {
			return;
		}
		this.#isEntering = true;
		const isBack = this.#connection.signal.aborted;
		this.#connection = new AbortController();
		const { signal } = this.#connection;
		try {
			this.#claims.recheck();
			this.#members.readAll();
			await this.#renew(true);
			await this.#events.enter(this.#options.bus, signal);
			signal.throwIfAborted();
			this.#hasEntered = true;
			this.#remotes.applyAll();
			if (isBack) {
				this.#options.info("cluster: the connection to NATS is back");
			}
			await this.#claims.flush();
		} catch (error) {
			if (!signal.aborted) {
				this.#connection.abort();
				if (isStart) {
					throw error;
				}
				this.#warn(error as Error);
			}
		} finally {
			this.#isEntering = false;
		}
	}

	#memberChanged(gateway: string, before: Lease | undefined): void {
		const { registry, log, key: ownKey, warn } = this.#options;
		if (before !== undefined && this.#isConnected) {
			// Each of the others says that its devices are offline, and it is stored once.
			for (const { id, alias } of registry.all.filter(({ connection }) => connection?.identity.gateway === gateway)) {
				const data = { device: alias, reason: `gateway ${gateway} is gone` };
				log.append({ name: "device.offline", device: id, data }, `${before.incarnation} ${id}`);
			}
		}
		this.#incoming.gatewayGone(gateway);
		this.#remotes.gatewayChanged(gateway);
		const { key = ownKey } = this.#members.leaseOf(gateway) ?? {};
		if (key !== ownKey) {
			warn(
				`cluster: gateway ${gateway} has another device-key: devices that are bound there have to be bound here again, ` +
					"clients that have registered there cannot sign in here, and answers to questions are taken only where they were " +
					"asked. Copy device-key from one state folder into the others",
			);
		}
	}

	#check(): void {
		const { bus, name } = this.#options;
		this.#members.expire(TICK);
		for (const gateway of bus.connected ? this.#remotes.awaited : []) {
			bus.publish(bus.subjects.ping(gateway), {}, bus.subjects.pong(name, gateway));
		}
		void this.#enter();
		if (this.#hasEntered) {
			this.#renewSoon();
			void this.#claims.flush();
			void this.#events.flush();
		}
	}

	/** Renews the lease, unless NATS has not answered the attempt before. */
	#renewSoon(): void {
		this.#renewing ??= this.#renew()
			.catch(this.#warn)
			.finally(() => {
				this.#renewing = undefined;
			});
	}

	async #renew(isForced = false): Promise<void> {
		if (this.#isConnected) {
			await this.#members.renew(this.#lease(), isForced);
		}
	}

	#lease(): Lease {
		const { size: devices } = this.#claims;
		return { ...this.#self, devices, clients: this.#options.clients(), calls: this.#incoming.size };
	}

	/** Warns once of each gateway that is newer than this program. */
	#checkVersion(key: string, entry: Entry | undefined): void {
		if (entry !== undefined && isLaterVersion(entry) && !this.#newer.has(key)) {
			this.#newer.add(key);
			this.#options.warn(
				`cluster: ${key.replace("/", " ")} sends messages of a later version than this one reads (${VERSION}). They are ` +
					"refused: its devices cannot be reached here. Upgrade this gateway",
			);
		}
	}
}

/** Whether a session is with a device that is connected to this gateway. */
function isHere({ identity }: Connection): boolean {
	return identity.gateway === undefined && identity.configured !== true;
}
