import { randomUUID } from "node:crypto";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import type { Connection, Entry, Server } from "xs-mcp-manager/core";
import { events } from "../events/plugin.js";
import type { RunningGateway } from "../gateway.js";
import { nameInCluster } from "../store/open-stores.js";
import { clients } from "../transports/plugin.js";
import { GATEWAY_INFO } from "../version.js";
import { Bus, hasNoResponder } from "./bus.js";
import { Claims, isLaterVersion } from "./claims.js";
import { type IncomingCalls, takeCalls } from "./incoming-calls.js";
import { type Members, openMembers } from "./members.js";
import { type Call, type Lease, VERSION } from "./messages.js";
import { openRemotes, type Remotes } from "./remotes.js";
import { openEventStream, SharedEvents } from "./shared-events.js";

/** A {@link Cluster.status}, for the operator. */
export type ClusterStatus = Cluster["status"];

/** The guide with the required NATS permissions. */
const PERMISSIONS = "docs/gateway/cluster.md lists the permissions that a gateway needs";

/** Interval of the checks of leases, calls and changes, ms. */
const TICK = 500;

/** Interval of the checks for claims that are left, ms. */
const TIDY_INTERVAL = 60_000;

/** Milliseconds for the farewell: NATS may not answer. */
const LEAVE_TIME = 2_000;

/** Lists are read again when the record of their device says so. */
const LIST_CHANGED = /\/list_changed$/;

/** Joins gateways: each has the devices of the others in its registry, as servers like its own. See docs/gateway/cluster.md. */
export class Cluster {
	readonly #gateway: RunningGateway;
	readonly #nats: NatsConnection;
	readonly #bus: Bus;
	readonly #name: string;
	/** The part of this gateway's lease that stays, and whether it is about to stop. */
	readonly #self: Pick<Lease, "v" | "incarnation" | "program" | "since" | "key"> & { draining: boolean };
	readonly #members: Members;
	readonly #claims: Claims;
	readonly #remotes: Remotes;
	readonly #incoming: IncomingCalls;
	readonly #events: SharedEvents;
	/** Keys of gateways whose messages this program cannot read. */
	readonly #newer = new Set<string>();
	readonly #warn = (message: string): void => this.#gateway.log.warn(message);
	readonly #onError = ({ message }: Error): void => this.#warn(`cluster: ${message}`);
	/** Ends what the present connection has opened. */
	#connection = new AbortController();
	/** Whether this gateway has shown itself in the present connection. */
	#hasEntered = false;
	#isEntering = false;
	/** The attempt to renew the lease. */
	#renewing: Promise<void> | undefined;
	#closers: (() => void)[] = [];

	private constructor(gateway: RunningGateway, nats: NatsConnection) {
		const { settings, shortLived, servers, saves } = gateway;
		const [name, incarnation] = [nameInCluster(settings), randomUUID()];
		const [self, program, key] = [{ name, incarnation }, GATEWAY_INFO.version, gateway.key.derive("cluster")];
		this.#gateway = gateway;
		this.#nats = nats;
		this.#name = name;
		this.#bus = new Bus(nats, settings.clusterPrefix, (refused) => this.#warn(`cluster: ${refused}. ${PERMISSIONS}`));
		this.#self = { v: VERSION, incarnation, program, since: Date.now(), key, draining: false };
		this.#members = openMembers(name, shortLived, (other, before) => this.#memberChanged(other, before));
		this.#incoming = takeCalls(this.#bus, (call) => this.#deviceOf(call));
		this.#claims = new Claims(self, shortLived, this.#warn);
		this.#remotes = openRemotes(self, this.#bus, servers, this.#members, shortLived);
		this.#events = new SharedEvents(gateway.use(events).log, this.#warn, (problem) => saves.note("events", problem));
	}

	/** Joins. Rejects with an Error if another gateway has the name, or NATS refuses a subscription. */
	static async join(gateway: RunningGateway, nats: NatsConnection): Promise<Cluster> {
		const cluster = new Cluster(gateway, nats);
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
		const name = this.#name;
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
		const { store, shortLived } = this.#gateway;
		return this.#bus.connected && store.isConnected && shortLived.isConnected;
	}

	async #leave(): Promise<void> {
		if (this.#isConnected && this.#hasEntered) {
			await this.#claims.flush();
			await this.#events.flush();
			await this.#members.leave();
			await this.#bus.flush();
		}
	}

	async #start(): Promise<void> {
		const { shortLived } = this.#gateway;
		await this.#expectName();
		this.#subscribe();
		await this.#bus.expectSubscriptions();
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
		const timers = [
			setInterval(() => this.#check(), TICK),
			setInterval(() => void this.#remotes.removeUnknown(), TIDY_INTERVAL),
		];
		this.#closers.push(() => timers.forEach(clearInterval));
	}

	/** Rejects if a gateway with this name runs: its subject has a receiver. */
	async #expectName(): Promise<void> {
		const isUsed = this.#gateway.shortLived.get(`gateway/${this.#name}`) !== undefined;
		if (isUsed && (await this.#bus.hasReceiver(this.#bus.subjects.ping(this.#name)))) {
			throw new Error(`another gateway of the cluster is named ${this.#name}: choose another name with --cluster-name`);
		}
	}

	#subscribe(): void {
		const [bus, name] = [this.#bus, this.#name];
		const prefix = bus.subjects.all(name).slice(0, -1);
		bus.subscribe(bus.subjects.all(name), (message) => {
			const [kind, detail = ""] = message.subject.slice(prefix.length).split(".");
			if (kind === "reply") {
				this.#remotes.answered(detail, message);
			} else if (kind === "call") {
				this.#incoming.received(message).catch(this.#onError);
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
		const [registry, bus] = [this.#gateway.servers, this.#bus];
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
		const notification = ({ id: device, connection }: Server, method: string, params: object): void => {
			const claim = this.#claims.claimOf(device);
			if (claim !== undefined && connection !== undefined && isHere(connection) && !LIST_CHANGED.test(method)) {
				const event = { v: VERSION, device, claim, method, params };
				if (bus.connected && Buffer.byteLength(JSON.stringify(event)) <= bus.maxBytes) {
					bus.publish(bus.subjects.event(this.#name), event);
				}
			}
		};
		registry.on("online", online).on("disconnected", disconnected).on("notification", notification);
		return () => registry.off("online", online).off("disconnected", disconnected).off("notification", notification);
	}

	#deviceOf({ device, claim }: Call): Server | string {
		const gateway = `gateway ${this.#name}, which has the device,`;
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
			this.#warn("cluster: the connection to NATS is lost: devices of other gateways are offline");
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
			const { clusterPrefix, clusterReplicas } = this.#gateway.settings;
			await this.#events.enter(openEventStream(this.#nats, clusterPrefix, clusterReplicas), signal);
			signal.throwIfAborted();
			this.#hasEntered = true;
			this.#remotes.applyAll();
			if (isBack) {
				this.#gateway.log.info("cluster: the connection to NATS is back");
			}
			await this.#claims.flush();
		} catch (error) {
			if (!signal.aborted) {
				this.#connection.abort();
				if (isStart) {
					throw error;
				}
				this.#onError(error as Error);
			}
		} finally {
			this.#isEntering = false;
		}
	}

	#memberChanged(gateway: string, before: Lease | undefined): void {
		const { servers } = this.#gateway;
		const log = this.#gateway.use(events).log;
		if (before !== undefined && this.#isConnected) {
			// Each of the others says that its devices are offline, and it is stored once.
			for (const { id, alias } of servers.all.filter(({ connection }) => connection?.identity.gateway === gateway)) {
				const data = { device: alias, reason: `gateway ${gateway} is gone` };
				log.append({ name: "device.offline", device: id, data }, `${before.incarnation} ${id}`);
			}
		}
		this.#incoming.gatewayGone(gateway);
		this.#remotes.gatewayChanged(gateway);
		const { key } = this.#members.leaseOf(gateway) ?? {};
		if (key !== undefined && key !== this.#self.key) {
			this.#warn(
				`cluster: gateway ${gateway} has another device-key: devices that are bound there have to be bound here again, ` +
					"clients that have registered there cannot sign in here, and answers to questions are taken only where they were " +
					"asked. Copy device-key from one state folder into the others",
			);
		}
	}

	#check(): void {
		const bus = this.#bus;
		this.#members.expire(TICK);
		for (const gateway of bus.connected ? this.#remotes.awaited : []) {
			bus.publish(bus.subjects.ping(gateway), {}, bus.subjects.pong(this.#name, gateway));
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
			.catch(this.#onError)
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
		const { length } = this.#gateway.use(clients).endpoint.clients;
		return { ...this.#self, devices: this.#claims.size, clients: length, calls: this.#incoming.size };
	}

	/** Warns once of each gateway that is newer than this program. */
	#checkVersion(key: string, entry: Entry | undefined): void {
		if (entry !== undefined && isLaterVersion(entry) && !this.#newer.has(key)) {
			this.#newer.add(key);
			this.#warn(
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
