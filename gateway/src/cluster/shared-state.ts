import type { KV } from "@nats-io/kv";
import type { Server } from "xs-mcp-manager/core";
import type { TokenStore } from "../config/token-store.js";
import type { TokenUses } from "../config/token-uses.js";
import type { EventLog } from "../events/event-log.js";
import { type Buckets, type Bus, reached } from "./bus.js";
import type { Members } from "./members.js";
import { type Lease, readMessage, useEntrySchema, VERSION, type WebhookEntry } from "./messages.js";
import { SharedApprovals } from "./shared-approvals.js";
import type { SharedClock } from "./shared-clock.js";
import { SharedEvents } from "./shared-events.js";
import { SharedTokens } from "./shared-tokens.js";
import { SharedWebhooks } from "./shared-webhooks.js";

export interface SharedStateOptions {
	readonly tokens: TokenStore;
	/** When clients used them. */
	readonly uses: TokenUses;
	/** The log of the devices' events. */
	readonly log: EventLog;
	/** Encrypts webhooks: see SharedWebhooks. */
	readonly webhookKey: string;
	/** This gateway's own. */
	readonly stateFolder: string;
	readonly warn: (message: string) => void;
	/** Called with each attempt to store an event, and the error if it failed. */
	readonly onStored?: (problem: Error | undefined) => void;
}

interface Context extends SharedStateOptions {
	readonly self: Pick<WebhookEntry, "gateway" | "incarnation">;
	readonly clock: SharedClock;
	readonly members: Members;
}

/** The state, besides devices, that the gateways of a cluster share. */
export class SharedState {
	/** Devices that wait for approval, and codes of sign-ins. */
	readonly approvals: SharedApprovals;
	readonly tokens: SharedTokens;
	readonly uses: SharedUses;
	readonly events: SharedEvents;
	readonly webhooks: SharedWebhooks;
	readonly #options: SharedStateOptions;

	constructor(options: Context) {
		const { tokens, clock, stateFolder: folder, warn } = options;
		this.#options = options;
		this.approvals = new SharedApprovals(folder, clock, ({ message }) => warn(`cluster: ${message}`));
		this.tokens = new SharedTokens({ tokens, folder, clock, warn });
		this.uses = new SharedUses(options.uses);
		this.events = new SharedEvents(options.log, warn, options.onStored);
		this.webhooks = new SharedWebhooks({ ...options, key: options.webhookKey });
	}

	/** NATS is connected. Settles when this gateway has the cluster's state. Rejects if the connection is lost meanwhile. */
	async enter(bus: Bus, buckets: Buckets, connection: AbortSignal): Promise<void> {
		await this.tokens.enter(buckets.tokens, connection);
		connection.throwIfAborted();
		this.uses.use(buckets.tokens);
		this.approvals.use(buckets.approvals);
		await this.events.enter(bus, connection);
		this.webhooks.use(buckets.webhooks);
	}

	/** NATS is disconnected. */
	leave(): void {
		this.tokens.leave();
		this.uses.use(undefined);
		this.events.leave();
		this.webhooks.use(undefined);
		this.approvals.use(undefined);
	}

	/** The devices of a gateway that is gone are offline: each of the others says so, and it is stored once. */
	gatewayGone(gateway: string, { incarnation }: Lease, servers: readonly Server[]): void {
		for (const { id, alias } of servers.filter(({ session }) => session?.identity.gateway === gateway)) {
			const data = { device: alias, reason: `gateway ${gateway} is gone` };
			this.#options.log.append({ name: "device.offline", device: id, data }, `${incarnation} ${id}`);
		}
	}

	/** Stores changes. Call it periodically. */
	async flush(): Promise<void> {
		await this.tokens.flush();
		await this.approvals.flush();
		await this.events.flush();
		await this.webhooks.flush();
	}

	/** Stores the last changes. */
	async close(): Promise<void> {
		await this.#options.uses.save(this.#options.tokens.records);
		await this.tokens.close();
		await this.events.flush();
	}
}

/** In the bucket of tokens, before a token's hash. */
const USED = "used.";

/** When tokens were last used at any gateway: an entry a token, written once a minute at most by each gateway. */
class SharedUses {
	readonly #uses: TokenUses;
	#bucket: KV | undefined;

	constructor(uses: TokenUses) {
		this.#uses = uses;
		uses.share((sha256, time) => this.#publish(sha256, time));
	}

	/** @param bucket undefined while it cannot be reached */
	use(bucket: KV | undefined): void {
		this.#bucket = bucket;
	}

	/** Reads an entry of the bucket. Returns whether it is a use. */
	received(key: string, value: Uint8Array): boolean {
		if (!key.startsWith(USED)) {
			return false;
		}
		const entry = readMessage(useEntrySchema, value);
		if (entry !== undefined) {
			this.#uses.learn(key.slice(USED.length), entry.used);
		}
		return true;
	}

	async #publish(sha256: string, used: number): Promise<void> {
		await reached(this.#bucket).put(USED + sha256, JSON.stringify({ v: VERSION, used }));
	}
}
