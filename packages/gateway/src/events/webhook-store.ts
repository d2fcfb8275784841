import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import type { Store } from "xs-mcp-manager/core";
import * as z from "zod";

/** Keys: the subscription, and how far its delivery is. */
const WEBHOOK = "webhook/";
const CURSOR = "event-cursor/";

/** Interval of the checks for gateways that are gone, ms. */
const TICK = 500;

/** Milliseconds for which a gateway must be absent before another one takes over: news of it may be on the way. */
const PATIENCE = 1_500;

const ENTRY = z.object({
	/** The gateway that delivers, and its process; empty outside of clusters. */
	gateway: z.string(),
	incarnation: z.string(),
	/** The subscription, encrypted: a store that others can read gets no secret of an endpoint. */
	sealed: z.string(),
});

type Owner = Omit<z.infer<typeof ENTRY>, "sealed">;

const ALONE: Owner = { gateway: "", incarnation: "" };

/** A subscription by webhook, as it is stored. */
export interface WebhookRecord {
	/** Derived from the subscription's identity. */
	readonly id: string;
	readonly holder: string;
	/** Alias or id, if the client's endpoint is that of one server. */
	readonly server?: string | undefined;
	readonly name: string;
	readonly arguments: Readonly<Record<string, unknown>>;
	readonly url: string;
	readonly secret: string;
	/** Everything up to here was accepted. */
	readonly cursor: string;
	/** When it ends, in milliseconds since 1970. */
	readonly expires: number;
}

interface WebhookStoreEvents {
	/** A subscription is stored, or has changed. `isOurs`: this gateway delivers it. */
	record: [record: WebhookRecord, isOurs: boolean];
	removed: [id: string];
	warning: [message: string];
}

/** The gateways of a cluster, which deliver the subscriptions of those that are gone. */
interface WebhookCluster {
	readonly self: Owner;
	isPresent(gateway: string, incarnation: string): boolean;
}

/**
 * Subscriptions by webhook, in the store. One gateway delivers each: the one that accepted it, and another one once that is
 * gone.
 */
export class WebhookStore extends EventEmitter<WebhookStoreEvents> {
	readonly #store: Store;
	readonly #key: string;
	/** Undefined: this gateway is alone. */
	readonly #cluster: WebhookCluster | undefined;
	readonly #self: Owner;
	/** Progress of the deliveries here, which may wait to be written, by id. */
	readonly #moved = new Map<string, string>();
	/** When a subscription's gateway was first found absent, by key and by `performance.now()`. */
	readonly #absent = new Map<string, number>();
	#unwatch = (): void => {};
	#timer: NodeJS.Timeout | undefined;

	/** @param key 256 bits as base64url, the same for each gateway with the same `device-key` */
	constructor(store: Store, key: string, cluster?: WebhookCluster) {
		super();
		this.#store = store;
		this.#key = key;
		this.#cluster = cluster;
		this.#self = cluster?.self ?? ALONE;
	}

	/** Reports the stored subscriptions, and from now on those that change. */
	open(): void {
		for (const { key } of this.#store.list(CURSOR)) {
			if (this.#store.get(WEBHOOK + key.slice(CURSOR.length)) === undefined) {
				this.#store.later(key, undefined);
			}
		}
		this.#reportAll();
		this.#unwatch = this.#store.watch(WEBHOOK, (key) => this.#report(key));
		if (this.#cluster !== undefined) {
			// While the store cannot be reached, another gateway delivers.
			this.#store.on("disconnected", this.#reportAll);
			this.#store.on("connected", this.#reportAll);
			this.#timer = setInterval(() => this.#takeOver(), TICK);
		}
	}

	/** Stores a subscription that is new or renewed. Rejects with StoreError. */
	async put(record: WebhookRecord): Promise<void> {
		const key = WEBHOOK + record.id;
		const isNew = this.#store.get(key) === undefined;
		await this.#store.update(key, (entry) => {
			const { gateway, incarnation } = ENTRY.safeParse(entry?.value).data ?? this.#self;
			return { gateway, incarnation, sealed: seal(this.#key, record) };
		});
		if (isNew) {
			// The delivery may have begun already.
			this.#store.later(CURSOR + record.id, this.#moved.get(record.id) ?? record.cursor);
		}
	}

	/** Stores the progress of a delivery soon. A process that is killed repeats the events since then. */
	moved(id: string, cursor: string): void {
		this.#moved.set(id, cursor);
		this.#store.later(CURSOR + id, cursor);
	}

	/** Rejects with StoreError. */
	async remove(id: string): Promise<void> {
		await this.#store.delete(WEBHOOK + id);
		this.#store.later(CURSOR + id, undefined);
	}

	close(): void {
		this.#unwatch();
		clearInterval(this.#timer);
		this.#store.off("disconnected", this.#reportAll);
		this.#store.off("connected", this.#reportAll);
	}

	readonly #reportAll = (): void => {
		for (const { key } of this.#store.list(WEBHOOK)) {
			this.#report(key);
		}
	};

	#report(key: string): void {
		const id = key.slice(WEBHOOK.length);
		const entry = this.#read(key);
		if (entry === undefined) {
			this.#moved.delete(id);
			this.#absent.delete(key);
			this.emit("removed", id);
			return;
		}
		const isOwner = this.#isSelf(entry);
		if (!isOwner) {
			this.#moved.delete(id);
		}
		const record = unseal(this.#key, entry.sealed);
		if (record?.id !== id) {
			const of = entry.gateway === "" ? "" : ` of gateway ${entry.gateway}`;
			this.emit("warning", `a webhook${of} cannot be read here: is the device-key another one?`);
			return;
		}
		const stored = this.#store.get(CURSOR + id)?.value;
		const cursor = this.#moved.get(id) ?? (typeof stored === "string" ? stored : record.cursor);
		const isReached = this.#cluster === undefined || this.#store.isConnected;
		this.emit("record", { ...record, cursor }, isOwner && isReached);
	}

	/** Takes over the deliveries of gateways that have been absent for a while. */
	#takeOver(): void {
		for (const { key } of this.#store.isConnected ? this.#store.list(WEBHOOK) : []) {
			const entry = this.#read(key);
			const isPresent = entry && this.#cluster?.isPresent(entry.gateway, entry.incarnation) !== false;
			if (entry === undefined || isPresent || this.#isSelf(entry)) {
				this.#absent.delete(key);
				continue;
			}
			const since = this.#absent.get(key) ?? performance.now();
			this.#absent.set(key, since);
			if (performance.now() - since >= PATIENCE && unseal(this.#key, entry.sealed) !== undefined) {
				// If it cannot be written, or another gateway is faster, the next check finds that.
				this.#store
					.update(key, () => {
						const found = this.#read(key);
						return found?.incarnation === entry.incarnation ? { ...found, ...this.#self } : undefined;
					})
					.catch(() => {});
			}
		}
	}

	#isSelf({ gateway, incarnation }: Owner): boolean {
		return this.#cluster === undefined || (gateway === this.#self.gateway && incarnation === this.#self.incarnation);
	}

	/** Undefined if there is none. A damaged one, or one of a later version, counts as absent. */
	#read(key: string): z.infer<typeof ENTRY> | undefined {
		return ENTRY.safeParse(this.#store.get(key)?.value).data;
	}
}

/** Encrypts a subscription. */
export function seal(key: string, record: WebhookRecord): string {
	const iv = randomBytes(12);
	const cipher = createCipheriv("aes-256-gcm", Buffer.from(key, "base64url"), iv);
	const text = Buffer.concat([cipher.update(JSON.stringify(record), "utf8"), cipher.final()]);
	return Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64url");
}

/** Undefined if it was encrypted with another key. */
function unseal(key: string, sealed: string): WebhookRecord | undefined {
	try {
		const bytes = Buffer.from(sealed, "base64url");
		const decipher = createDecipheriv("aes-256-gcm", Buffer.from(key, "base64url"), bytes.subarray(0, 12));
		decipher.setAuthTag(bytes.subarray(12, 28));
		return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString());
	} catch {
		return undefined;
	}
}
