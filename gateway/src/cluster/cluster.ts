import { randomUUID } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import type { Server, ServerRegistry, Session } from "xs-mcp-manager/core";
import type { TokenStore } from "../config/token-store.js";
import type { TokenUses } from "../config/token-uses.js";
import type { EventLog } from "../events/event-log.js";
import type { EventService } from "../events/event-service.js";
import { BucketFollower } from "./bucket-follower.js";
import { type Buckets, Bus, type BusOptions, hasNoResponder } from "./bus.js";
import { Claims } from "./claims.js";
import { IncomingCalls } from "./incoming-calls.js";
import { Lists } from "./lists.js";
import { Members } from "./members.js";
import { type Call, type Lease, SUBJECTS, VERSION } from "./messages.js";
import { OutgoingCalls } from "./outgoing-calls.js";
import { Remotes } from "./remotes.js";
import { SharedApprovals } from "./shared-approvals.js";
import { SharedClock } from "./shared-clock.js";
import { SharedEvents } from "./shared-events.js";
import { SharedTokens } from "./shared-tokens.js";
import { SharedUses } from "./shared-uses.js";
import { SharedWebhooks } from "./shared-webhooks.js";
import type { ClusterStatus } from "./status.js";

export interface ClusterOptions extends BusOptions {
	/** Of this gateway. No two have the same. */
	readonly name: string;
	/** Version of the program. */
	readonly program: string;
	readonly registry: ServerRegistry;
	readonly tokens: TokenStore;
	/** When clients used them. */
	readonly uses: TokenUses;
	/** The events of the devices, and the log of them. */
	readonly events: EventService;
	readonly log: EventLog;
	/** Encrypts webhooks: see SharedWebhooks. */
	readonly webhookKey: string;
	/** This gateway's own. */
	readonly stateFolder: string;
	/** Differs if this gateway's `device-key` does. */
	readonly key: string;
	/** Clients in a session. */
	readonly clients: () => number;
	readonly info: (message: string) => void;
	readonly warn: (message: string) => void;
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

/** Lists are read anew when the entry of their device says so. */
const LIST_CHANGED = /\/list_changed$/;

/**
 * Makes gateways on one NATS server or cluster one gateway: each has the devices of the others in its registry, as servers like
 * its own. docs/gateway/cluster.md says what is stored and sent.
 */
export class Cluster {
	/** Devices that wait for approval, and codes of sign-ins. */
	readonly approvals: SharedApprovals;
	readonly #options: ClusterOptions;
	readonly #incarnation = randomUUID();
	readonly #since = Date.now();
	readonly #lists = new Lists();
	readonly #members: Members;
	readonly #claims: Claims;
	readonly #remotes: Remotes;
	readonly #outgoing: OutgoingCalls;
	readonly #incoming: IncomingCalls;
	readonly #tokens: SharedTokens;
	readonly #uses: SharedUses;
	readonly #events: SharedEvents;
	readonly #webhooks: SharedWebhooks;
	readonly #follower: BucketFollower;
	readonly #warn = ({ message }: Error): void => this.#options.warn(`cluster: ${message}`);
	#bus!: Bus;
	/** Undefined without a connection. */
	#buckets: Buckets | undefined;
	#timer: NodeJS.Timeout | undefined;
	#tidyTimer: NodeJS.Timeout | undefined;
	#draining = false;
	#isClosed = false;

	private constructor(options: ClusterOptions) {
		const { name, registry, tokens, uses, stateFolder: folder, warn } = options;
		this.#options = options;
		const clock = new SharedClock(warn);
		this.approvals = new SharedApprovals(folder, clock, this.#warn);
		this.#tokens = new SharedTokens({ tokens, folder, clock, warn });
		this.#uses = new SharedUses(uses);
		this.#events = new SharedEvents(options.log, warn);
		this.#webhooks = new SharedWebhooks({
			self: { gateway: name, incarnation: this.#incarnation },
			members: () => this.#members,
			key: options.webhookKey,
			warn,
		});
		const buckets = (): Buckets | undefined => (this.#bus.connected ? this.#buckets : undefined);
		const bus = (): Bus => this.#bus;
		this.#members = new Members(name, clock, (gateway, before) => this.#memberChanged(gateway, before));
		this.#outgoing = new OutgoingCalls(name, bus);
		const shared = { gateway: name, buckets, lists: this.#lists, warn };
		this.#remotes = new Remotes({ ...shared, registry, members: this.#members, calls: this.#outgoing });
		this.#claims = new Claims({
			...shared,
			clock,
			incarnation: this.#incarnation,
			maxBytes: () => this.#bus.maxBytes,
			onEdited: (entry) => this.#remotes.edited(entry),
			onLost: (session, gateway) => session.close(`the device has connected to gateway ${gateway}`),
		});
		this.#incoming = new IncomingCalls({
			bus,
			deviceOf: (call) => this.#deviceOf(call),
		});
		this.#follower = new BucketFollower(
			{
				members: this.#members,
				remotes: this.#remotes,
				claims: this.#claims,
				lists: this.#lists,
				tokens: this.#tokens,
				uses: this.#uses,
				approvals: this.approvals,
				webhooks: this.#webhooks,
			},
			warn,
		);
	}

	/** Joins. Rejects with an Error if NATS cannot be reached, has no JetStream, or another gateway has the name. */
	static async join(options: ClusterOptions): Promise<Cluster> {
		const cluster = new Cluster(options);
		await cluster.#start();
		return cluster;
	}

	get status(): ClusterStatus {
		const self = { ...this.#lease(), name: this.#options.name };
		const gateways = [self, ...this.#members.present].map(
			({ name, program, since, devices, clients, calls, draining }) => ({
				name,
				version: program,
				since: new Date(since).toISOString(),
				devices,
				clients,
				calls,
				draining,
			}),
		);
		return { name: this.#options.name, connected: this.#bus.connected && this.#buckets !== undefined, gateways };
	}

	/** How often lists of a device here could not be shared. */
	get refusedLists(): number {
		return this.#lists.refused;
	}

	/** This gateway is about to stop: it takes no new calls of others. */
	async drain(): Promise<void> {
		this.#draining = true;
		await this.#renew(true).catch(() => {});
	}

	/** Leaves: devices are offline for the others, until they connect to another gateway. */
	async close(): Promise<void> {
		this.#isClosed = true;
		clearInterval(this.#timer);
		clearInterval(this.#tidyTimer);
		this.#remotes.close();
		// If it cannot, the lease expires.
		const left = this.#leave().catch(() => {});
		await Promise.race([left, new Promise((resolve) => setTimeout(resolve, LEAVE_TIME).unref())]);
		await this.#bus.close();
	}

	async #leave(): Promise<void> {
		if (this.#bus.connected) {
			await this.#claims.flush();
			await this.#options.uses.save(this.#options.tokens.records);
			await this.#tokens.close();
			await this.#events.flush();
			await this.#buckets?.gateways.delete(this.#options.name);
			await this.#bus.flush();
		}
	}

	async #start(): Promise<void> {
		const { name, registry } = this.#options;
		this.#bus = await Bus.connect(this.#options, name, {
			onLost: () => this.#lost(),
			onBack: () => void this.#rejoin(),
			onRefused: (message) => this.#options.warn(`cluster: ${message}. ${PERMISSIONS}`),
		});
		try {
			const buckets = await this.#bus.openBuckets();
			await this.#expectName(buckets);
			this.#subscribe();
			await this.#bus.expectSubscriptions();
			await this.#enter(buckets);
		} catch (error) {
			await this.#bus.close();
			throw error;
		}
		this.#options.events.join(this.#events, this.#webhooks);
		registry.on("online", (server) => this.#online(server));
		registry.on("disconnected", (_server, session) => this.#disconnected(session));
		registry.on("notification", (server, method, params) => this.#notified(server, method, params));
		registry.on("changed", () => this.#remotes.changed());
		this.#members.start();
		this.#timer = setInterval(() => this.#tick().catch(this.#warn), TICK);
		this.#tidyTimer = setInterval(() => this.#tidy().catch(this.#warn), TIDY_INTERVAL);
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
		if (this.#draining) {
			return `${gateway} is about to stop`;
		}
		if (!this.#members.holdsLease) {
			return `${gateway} did not run for a while, so that the call may be too old: try again`;
		}
		return this.#claims.serverOf(device, claim) ?? "the device has disconnected, or has gone to another gateway";
	}

	/** Shows that this gateway is here, and follows the others. */
	async #enter(buckets: Buckets): Promise<void> {
		this.#buckets = buckets;
		this.#lists.forgetStored();
		await this.#tokens.enter(buckets.tokens);
		this.#uses.use(buckets.tokens);
		this.approvals.use(buckets.approvals);
		await this.#events.enter(this.#bus);
		this.#webhooks.use(buckets.webhooks);
		await this.#renew(true);
		await this.#follower.start(buckets);
		this.#claims.recheck();
		await this.#claims.flush();
	}

	/** Without NATS, devices and clients that are here go on. */
	#lost(): void {
		this.#leaveBuckets();
		this.#options.warn("cluster: the connection to NATS is lost: devices of other gateways are offline");
		this.#members.clear();
	}

	#leaveBuckets(): void {
		this.#follower.stop();
		this.#buckets = undefined;
		this.#tokens.leave();
		this.#uses.use(undefined);
		this.#events.leave();
		this.#webhooks.use(undefined);
		this.approvals.use(undefined);
	}

	async #rejoin(): Promise<void> {
		while (this.#bus.connected && !this.#isClosed) {
			try {
				await this.#enter(await this.#bus.openBuckets());
				this.#options.info("cluster: the connection to NATS is back");
				return;
			} catch (error) {
				this.#leaveBuckets();
				this.#warn(error as Error);
				await new Promise((resolve) => setTimeout(resolve, RETRY_TIME));
			}
		}
	}

	#memberChanged(gateway: string, before: Lease | undefined): void {
		this.#tellOffline(gateway, before);
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

	/** The devices of a gateway that is gone: each of the others says so, and it is stored once. */
	#tellOffline(gateway: string, before: Lease | undefined): void {
		if (!this.#bus.connected || this.#isClosed || before === undefined) {
			return;
		}
		for (const { id, alias, session } of this.#options.registry.all) {
			if (session?.identity.gateway === gateway) {
				const data = { device: alias, reason: `gateway ${gateway} is gone` };
				this.#options.log.append({ name: "device.offline", device: id, data }, `${before.incarnation} ${id}`);
			}
		}
	}

	async #tick(): Promise<void> {
		this.#members.expire(TICK);
		if (!this.#bus.connected || this.#buckets === undefined) {
			return;
		}
		for (const gateway of this.#outgoing.gateways) {
			this.#bus.publish(SUBJECTS.ping(gateway), {}, SUBJECTS.pong(this.#options.name, gateway));
		}
		try {
			await this.#renew();
			await this.#claims.flush();
			await this.#tokens.flush();
			await this.approvals.flush();
			await this.#events.flush();
			await this.#webhooks.flush();
			await this.#remotes.publishEdits((device) => this.#claims.claimOf(device) !== undefined);
		} catch (error) {
			this.#warn(error as Error);
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
		if (this.#buckets !== undefined) {
			await this.#members.renew(this.#buckets.gateways, this.#lease(), isForced);
		}
	}

	#lease(): Lease {
		return {
			v: VERSION,
			incarnation: this.#incarnation,
			program: this.#options.program,
			since: this.#since,
			devices: this.#claims.size,
			clients: this.#options.clients(),
			calls: this.#incoming.size,
			draining: this.#draining,
			key: this.#options.key,
		};
	}

	#online(server: Server): void {
		const { session } = server;
		if (session !== undefined && isHere(session)) {
			this.#claims.begin(server, session);
		}
	}

	#disconnected(session: Session): void {
		const { id } = session.identity;
		if (isHere(session)) {
			this.#incoming.deviceGone(id);
			this.#claims.end(session);
		}
		// Another gateway may have the device. A session that fails at once does so once a second.
		setTimeout(() => this.#remotes.recheck(id), isHere(session) ? 0 : RETRY_TIME).unref();
	}

	#notified({ id, session }: Server, method: string, params: Readonly<Record<string, unknown>>): void {
		const claim = this.#claims.claimOf(id);
		if (claim !== undefined && session !== undefined && isHere(session) && !LIST_CHANGED.test(method)) {
			this.#publishEvent({ v: VERSION, device: id, claim, method, params });
		}
	}

	#publishEvent(event: object): void {
		if (this.#bus.connected && Buffer.byteLength(JSON.stringify(event)) <= this.#bus.maxBytes) {
			this.#bus.publish(SUBJECTS.event(this.#options.name), event);
		}
	}
}

/** Whether a session is with a device that is connected to this gateway. */
function isHere({ identity }: Session): boolean {
	return identity.gateway === undefined && identity.configured !== true;
}
