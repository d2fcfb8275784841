import { randomUUID } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import type { Server, ServerRegistry } from "xs-mcp-manager/core";
import type { EventService } from "../events/event-service.js";
import { BucketFollower } from "./bucket-follower.js";
import { type Buckets, Bus, type BusOptions, hasNoResponder } from "./bus.js";
import { Claims } from "./claims.js";
import { every } from "./every.js";
import { IncomingCalls } from "./incoming-calls.js";
import { Lists } from "./lists.js";
import { Members } from "./members.js";
import { type Call, type Lease, SUBJECTS, VERSION } from "./messages.js";
import { OutgoingCalls } from "./outgoing-calls.js";
import { Remotes } from "./remotes.js";
import { shareDevices } from "./share-devices.js";
import type { SharedApprovals } from "./shared-approvals.js";
import { SharedClock } from "./shared-clock.js";
import { SharedState, type SharedStateOptions } from "./shared-state.js";
import type { ClusterStatus } from "./status.js";

export interface ClusterOptions extends BusOptions, SharedStateOptions {
	/** Of this gateway. No two have the same. */
	readonly name: string;
	/** Version of the program. */
	readonly program: string;
	readonly registry: ServerRegistry;
	/** This gateway's own. */
	readonly stateFolder: string;
	/** The events of the devices. */
	readonly events: EventService;
	/** Differs if this gateway's `device-key` does. */
	readonly key: string;
	/** Clients in a session. */
	readonly clients: () => number;
	readonly info: (message: string) => void;
}

/** Interval of the checks of leases, calls and changes, ms. */
const TICK = 500;

/** Interval of the checks of lists: what no device has used since the check before is removed, ms. */
const TIDY_INTERVAL = 60_000;

/** Milliseconds for the farewell: NATS may not answer. */
const LEAVE_TIME = 2_000;

/** Milliseconds until a failed step is tried again. */
const RETRY_TIME = 1_000;

/** Where an operator finds the required NATS permissions. */
const PERMISSIONS = "docs/gateway/cluster.md lists the permissions that a gateway needs";

/**
 * Makes gateways on one NATS server or cluster one gateway: each has the devices of the others in its registry, as servers like
 * its own. docs/gateway/cluster.md says what is stored and sent.
 */
export class Cluster {
	readonly #options: ClusterOptions;
	/** The part of this gateway's lease that stays, and whether it is about to stop. */
	readonly #self: Pick<Lease, "v" | "incarnation" | "program" | "since" | "key"> & { draining: boolean };
	readonly #lists = new Lists();
	readonly #members: Members;
	readonly #shared: SharedState;
	readonly #claims: Claims;
	readonly #remotes: Remotes;
	readonly #outgoing: OutgoingCalls;
	readonly #incoming: IncomingCalls;
	readonly #follower: BucketFollower;
	readonly #warn = ({ message }: Error): void => this.#options.warn(`cluster: ${message}`);
	#bus!: Bus;
	/** Ends what the present connection to NATS has opened. */
	#connection = new AbortController();
	/** Undefined without a connection. */
	#buckets: Buckets | undefined;
	#timers: readonly NodeJS.Timeout[] = [];
	#isClosed = false;

	private constructor(options: ClusterOptions) {
		const { name: gateway, program, key, registry, warn } = options;
		const incarnation = randomUUID();
		this.#options = options;
		this.#self = { v: VERSION, incarnation, program, since: Date.now(), key, draining: false };
		const clock = new SharedClock(warn);
		const members = new Members(gateway, clock, (name, before) => this.#memberChanged(name, before));
		this.#members = members;
		this.#shared = new SharedState({ ...options, self: { gateway, incarnation }, clock, members });
		const buckets = (): Buckets | undefined => (this.#bus.connected ? this.#buckets : undefined);
		const bus = (): Bus => this.#bus;
		this.#outgoing = new OutgoingCalls(gateway, bus);
		const shared = { gateway, buckets, lists: this.#lists, warn };
		const folder = options.stateFolder;
		this.#remotes = new Remotes({ ...shared, registry, members, folder, clock, calls: this.#outgoing });
		this.#claims = new Claims({
			...shared,
			clock,
			incarnation,
			maxBytes: () => this.#bus.maxBytes,
			onEntry: (entry, revision) => this.#remotes.learn(entry, revision),
			aliasSetAt: (id, alias) => this.#remotes.aliasSetAt(id, alias),
			onLost: (session, other) => session.close(`the device has connected to gateway ${other}`),
		});
		this.#incoming = new IncomingCalls({ bus, deviceOf: (call) => this.#deviceOf(call) });
		const readers = { members, remotes: this.#remotes, claims: this.#claims, lists: this.#lists, shared: this.#shared };
		this.#follower = new BucketFollower(readers, warn);
	}

	/** Joins. Rejects with an Error if NATS cannot be reached, has no JetStream, or another gateway has the name. */
	static async join(options: ClusterOptions): Promise<Cluster> {
		const cluster = new Cluster(options);
		await cluster.#start();
		return cluster;
	}

	/** Devices that wait for approval. */
	get approvals(): SharedApprovals {
		return this.#shared.approvals;
	}

	get status(): ClusterStatus {
		const self = { ...this.#lease(), name: this.#options.name };
		const gateways = [self, ...this.#members.present].map(
			({ name, program: version, since, devices, clients, calls, draining }) => {
				return { name, version, since: new Date(since).toISOString(), devices, clients, calls, draining };
			},
		);
		return { name: this.#options.name, connected: this.#bus.connected && this.#buckets !== undefined, gateways };
	}

	/** How often lists of a device here could not be shared. */
	get refusedLists(): number {
		return this.#lists.refused;
	}

	/** This gateway is about to stop: it takes no new calls of others. */
	async drain(): Promise<void> {
		this.#self.draining = true;
		await this.#renew(true).catch(() => {});
	}

	/** Leaves: devices are offline for the others, until they connect to another gateway. */
	async close(): Promise<void> {
		this.#isClosed = true;
		this.#timers.forEach(clearInterval);
		this.#remotes.close();
		// If it cannot, the lease expires.
		const left = this.#leave().catch(() => {});
		await Promise.race([left, new Promise((resolve) => setTimeout(resolve, LEAVE_TIME).unref())]);
		await this.#bus.close();
	}

	async #leave(): Promise<void> {
		if (this.#bus.connected) {
			await this.#claims.flush();
			await this.#shared.close();
			await this.#remotes.publishEdits().catch(this.#warn);
			await this.#buckets?.gateways.delete(this.#options.name);
			await this.#bus.flush();
		}
	}

	async #start(): Promise<void> {
		const { name, registry } = this.#options;
		this.#bus = await Bus.connect(this.#options, name, {
			onLost: () => {
				// Devices and clients that are here go on.
				this.#leaveBuckets();
				this.#options.warn("cluster: the connection to NATS is lost: devices of other gateways are offline");
				this.#members.clear();
			},
			onBack: () => void this.#rejoin(),
			onRefused: (message) => this.#options.warn(`cluster: ${message}. ${PERMISSIONS}`),
		});
		const connection = this.#connection;
		try {
			const buckets = await this.#bus.openBuckets();
			await this.#expectName(buckets);
			this.#subscribe();
			await this.#bus.expectSubscriptions();
			// A connection that was lost and is back has entered by itself.
			if (this.#connection === connection) {
				await this.#enter(buckets, connection.signal);
			}
		} catch (error) {
			await this.#bus.close();
			throw error;
		}
		this.#options.events.open(this.#shared.webhooks);
		shareDevices({
			gateway: name,
			registry,
			claims: this.#claims,
			remotes: this.#remotes,
			incoming: this.#incoming,
			bus: this.#bus,
		});
		this.#members.start();
		this.#timers = [
			setInterval(() => this.#check(), TICK),
			every(TICK, () => this.#renew(), this.#warn),
			every(TICK, () => this.#flush(), this.#warn),
			every(TIDY_INTERVAL, () => this.#tidy(), this.#warn),
		];
	}

	/** Rejects if a gateway with this name runs: its subject has a receiver. */
	async #expectName({ gateways }: Buckets): Promise<void> {
		const { name } = this.#options;
		const found = await gateways.get(name);
		if (found?.operation === "PUT" && (await this.#bus.hasReceiver(SUBJECTS.ping(name)))) {
			throw new Error(`another gateway of the cluster is named ${name}: choose another name with --cluster-name`);
		}
	}

	#subscribe(): void {
		const { name } = this.#options;
		const prefix = SUBJECTS.all(name).slice(0, -1);
		this.#bus.subscribe(SUBJECTS.all(name), (message) => {
			const [kind, detail = ""] = message.subject.slice(prefix.length).split(".");
			this.#follower.noteVersion(message.data, "another gateway");
			if (kind === "reply") {
				this.#outgoing.received(detail, message);
			} else if (kind === "call") {
				this.#incoming.received(message).catch(this.#warn);
			} else if (kind === "cancel") {
				this.#incoming.cancelled(message);
			} else if (kind === "pong" && hasNoResponder(message)) {
				this.#members.gone(detail);
			}
		});
		this.#bus.subscribe(SUBJECTS.events, ({ subject, data }: Msg) =>
			this.#remotes.notified(subject.slice(SUBJECTS.event("").length), data),
		);
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

	/** Shows that this gateway is here, and follows the others. Rejects if the connection is lost meanwhile. */
	async #enter(buckets: Buckets, connection: AbortSignal): Promise<void> {
		connection.throwIfAborted();
		// Before anything is written: if NATS has lost its disk, an entry's revision may be that of an older one.
		this.#claims.recheck();
		this.#buckets = buckets;
		this.#lists.forgetStored();
		this.#remotes.reset();
		await this.#shared.enter(this.#bus, buckets, connection);
		await this.#renew(true);
		await this.#follower.start(buckets, connection);
		await this.#claims.flush();
	}

	#leaveBuckets(): void {
		this.#connection.abort(new Error("the connection to NATS is lost"));
		this.#buckets = undefined;
		this.#shared.leave();
	}

	/** NATS is connected again. It may be lost at any moment: then the next connection enters by itself. */
	async #rejoin(): Promise<void> {
		// A connection that is lost while the client makes it can be followed by two others at once.
		this.#leaveBuckets();
		const connection = new AbortController();
		this.#connection = connection;
		try {
			await this.#enter(await this.#bus.openBuckets(), connection.signal);
			this.#options.info("cluster: the connection to NATS is back");
		} catch (error) {
			if (!connection.signal.aborted) {
				this.#leaveBuckets();
				this.#warn(error as Error);
				const retry = (): void => {
					if (this.#connection === connection && this.#bus.connected && !this.#isClosed) {
						void this.#rejoin();
					}
				};
				setTimeout(retry, RETRY_TIME).unref();
			}
		}
	}

	#memberChanged(gateway: string, before: Lease | undefined): void {
		if (this.#bus.connected && !this.#isClosed && before !== undefined) {
			this.#shared.gatewayGone(gateway, before, this.#options.registry.all);
		}
		this.#incoming.gatewayGone(gateway);
		this.#remotes.gatewayChanged(gateway);
		const { key = this.#options.key } = this.#members.leaseOf(gateway) ?? {};
		if (key !== this.#options.key) {
			this.#options.warn(
				`cluster: gateway ${gateway} has another device-key: devices that are bound there have to be bound here again, ` +
					"clients that have registered there cannot sign in here, and answers to questions are taken only where they were " +
					"asked. Copy device-key from one state folder into the others",
			);
		}
	}

	#check(): void {
		this.#members.expire(TICK);
		for (const gateway of this.#bus.connected ? this.#outgoing.gateways : []) {
			this.#bus.publish(SUBJECTS.ping(gateway), {}, SUBJECTS.pong(this.#options.name, gateway));
		}
	}

	/** Stores what has changed here. */
	async #flush(): Promise<void> {
		if (this.#bus.connected && this.#buckets !== undefined) {
			await this.#claims.flush();
			await this.#shared.flush();
			await this.#remotes.publishEdits();
		}
	}

	/** Removes lists that no device has used since the time before, and stores those again that will expire. */
	async #tidy(): Promise<void> {
		const lists = this.#bus.connected ? this.#buckets?.lists : undefined;
		if (lists !== undefined) {
			this.#claims.recheckLists();
			// Which lists a later version's entries use cannot be known.
			if (!this.#follower.hasNewerEntries) {
				await this.#lists.tidy(lists, this.#remotes.listsInUse);
			}
		}
	}

	async #renew(isForced = false): Promise<void> {
		if (this.#bus.connected && this.#buckets !== undefined) {
			await this.#members.renew(this.#buckets.gateways, this.#lease(), isForced);
		}
	}

	#lease(): Lease {
		const { size: devices } = this.#claims;
		return { ...this.#self, devices, clients: this.#options.clients(), calls: this.#incoming.size };
	}
}
