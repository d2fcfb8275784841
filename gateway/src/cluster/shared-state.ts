import type { Server } from "xs-mcp-manager/core";
import type { EventLog } from "../events/event-log.js";
import type { Buckets, Bus } from "./bus.js";
import type { Members } from "./members.js";
import type { Lease, WebhookEntry } from "./messages.js";
import { SharedApprovals } from "./shared-approvals.js";
import type { SharedClock } from "./shared-clock.js";
import { SharedEvents } from "./shared-events.js";
import { SharedWebhooks } from "./shared-webhooks.js";

export interface SharedStateOptions {
	/** The log of the devices' events. */
	readonly log: EventLog;
	/** Encrypts webhooks: see SharedWebhooks. */
	readonly webhookKey: string;
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
	/** Devices that wait for approval. */
	readonly approvals: SharedApprovals;
	readonly events: SharedEvents;
	readonly webhooks: SharedWebhooks;
	readonly #options: SharedStateOptions;

	constructor(options: Context) {
		const { warn } = options;
		this.#options = options;
		this.approvals = new SharedApprovals(({ message }) => warn(`cluster: ${message}`));
		this.events = new SharedEvents(options.log, warn, options.onStored);
		this.webhooks = new SharedWebhooks({ ...options, key: options.webhookKey });
	}

	/** NATS is connected. Settles when this gateway has the cluster's state. Rejects if the connection is lost meanwhile. */
	async enter(bus: Bus, buckets: Buckets, connection: AbortSignal): Promise<void> {
		this.approvals.use(buckets.approvals);
		await this.events.enter(bus, connection);
		this.webhooks.use(buckets.webhooks);
	}

	/** NATS is disconnected. */
	leave(): void {
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
		await this.events.flush();
		await this.webhooks.flush();
	}

	/** Stores the last changes. */
	async close(): Promise<void> {
		await this.events.flush();
	}
}
