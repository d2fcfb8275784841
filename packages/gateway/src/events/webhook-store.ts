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

/** Subscriptions by webhook, in the store. */
export type WebhookStore = ReturnType<typeof makeWebhookStore>;

/**
 * Makes the store of subscriptions by webhook. One gateway delivers each: the one that accepted it, and another one once that is
 * gone.
 *
 * @param key 256 bits as base64url, the same for each gateway with the same `device-key`
 * @param cluster undefined: this gateway is alone
 */
export function makeWebhookStore(store: Store, key: string, cluster?: WebhookCluster) {
	const events = new EventEmitter<WebhookStoreEvents>();
	const { self = ALONE } = cluster ?? {};
	/** Progress of the deliveries here, which may wait to be written, by id. */
	const progress = new Map<string, string>();
	/** When a subscription's gateway was first found absent, by key and by `performance.now()`. */
	const absent = new Map<string, number>();
	let unwatch = (): void => {};
	let timer: NodeJS.Timeout | undefined;

	const isSelf = ({ gateway, incarnation }: Owner): boolean =>
		cluster === undefined || (gateway === self.gateway && incarnation === self.incarnation);

	/** Undefined if missing, damaged, or written by a later version. */
	const read = (path: string) => ENTRY.safeParse(store.get(path)?.value).data;

	const report = (path: string): void => {
		const id = path.slice(WEBHOOK.length);
		const entry = read(path);
		const isOwner = entry !== undefined && isSelf(entry);
		if (!isOwner) {
			progress.delete(id);
		}
		if (entry === undefined) {
			absent.delete(path);
			events.emit("removed", id);
			return;
		}
		const record = unseal(key, entry.sealed);
		if (record?.id !== id) {
			const of = entry.gateway === "" ? "" : ` of gateway ${entry.gateway}`;
			events.emit("warning", `a webhook${of} cannot be read here: is the device-key another one?`);
			return;
		}
		const stored = store.get(CURSOR + id)?.value;
		const cursor = progress.get(id) ?? (typeof stored === "string" ? stored : record.cursor);
		const isReached = cluster === undefined || store.isConnected;
		events.emit("record", { ...record, cursor }, isOwner && isReached);
	};

	const reportAll = (): void => store.list(WEBHOOK).forEach((entry) => void report(entry.key));

	/** Takes over the deliveries of gateways that have been absent for a while. */
	const takeOver = (): void => {
		for (const { key: path } of store.isConnected ? store.list(WEBHOOK) : []) {
			const entry = read(path);
			const isPresent = entry && cluster?.isPresent(entry.gateway, entry.incarnation) !== false;
			if (entry === undefined || isPresent || isSelf(entry)) {
				absent.delete(path);
				continue;
			}
			const since = absent.get(path) ?? performance.now();
			absent.set(path, since);
			if (performance.now() - since >= PATIENCE && unseal(key, entry.sealed) !== undefined) {
				const change = () => {
					const found = read(path);
					return found?.incarnation === entry.incarnation ? { ...found, ...self } : undefined;
				};
				// If it cannot be written, or another gateway is faster, the next check finds that.
				store.update(path, change).catch(() => {});
			}
		}
	};

	return Object.assign(events, {
		/** Reports the stored subscriptions, and from now on those that change. */
		open(): void {
			for (const { key: path } of store.list(CURSOR)) {
				if (store.get(WEBHOOK + path.slice(CURSOR.length)) === undefined) {
					store.later(path, undefined);
				}
			}
			reportAll();
			unwatch = store.watch(WEBHOOK, report);
			if (cluster !== undefined) {
				// While the store cannot be reached, another gateway delivers.
				store.on("disconnected", reportAll).on("connected", reportAll);
				timer = setInterval(takeOver, TICK);
			}
		},
		/** Stores a subscription that is new or renewed. Rejects with StoreError. */
		async put(record: WebhookRecord): Promise<void> {
			const path = WEBHOOK + record.id;
			const isNew = store.get(path) === undefined;
			await store.update(path, (entry) => {
				const { gateway, incarnation } = ENTRY.safeParse(entry?.value).data ?? self;
				return { gateway, incarnation, sealed: seal(key, record) };
			});
			if (isNew) {
				// The delivery may have begun already.
				store.later(CURSOR + record.id, progress.get(record.id) ?? record.cursor);
			}
		},
		/** Stores the progress of a delivery soon. A process that is killed repeats the events since then. */
		moved(id: string, cursor: string): void {
			progress.set(id, cursor);
			store.later(CURSOR + id, cursor);
		},
		/** Rejects with StoreError. */
		async remove(id: string): Promise<void> {
			await store.delete(WEBHOOK + id);
			store.later(CURSOR + id, undefined);
		},
		close(): void {
			unwatch();
			clearInterval(timer);
			store.off("disconnected", reportAll).off("connected", reportAll);
		},
	});
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
