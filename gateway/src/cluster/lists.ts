import { createHash } from "node:crypto";
import { JetStreamApiError } from "@nats-io/jetstream";
import type { KV, KvWatchEntry } from "@nats-io/kv";
import { LRUCache } from "lru-cache";
import type { Offers } from "xs-mcp-manager/core";
import { isOutdated } from "./bus.js";
import { offersSchema, readMessage } from "./messages.js";

/** Most lists in memory that no device uses. */
const MAX_LISTS = 1_000;

/** Milliseconds after which lists in use are stored again, so that they do not expire. */
const RENEWAL = 86_400_000;

/** Other lists than before that a device may store one after the other, and milliseconds until it may store one more. */
const MAX_CHANGES = 20;
const CHANGE_TIME = 300_000;

/** Most devices whose changes are counted. */
const MAX_COUNTED = 10_000;

/** The key of a device whose lists could not be stored: no bucket has it. */
export const NO_LISTS = "none";

/** The bucket's entry of a device's lists. */
export interface StoredLists {
	/** The newest that are stored, or {@link NO_LISTS}. */
	readonly key: string;
	/** Why its present lists are not stored: a kind, and a text for the operator. */
	readonly problem?: { readonly kind: "long" | "often" | "full"; readonly text: string };
}

/** Lists in the bucket. */
interface Known {
	readonly revision: number;
	/** When they were stored last, by `performance.now()`. */
	readonly stored: number;
	/** Whether no device used them when that was checked last. */
	isUnused: boolean;
}

/** A device's stored lists. */
interface Changes {
	key: string;
	/** How many more it may store now, at a time by `performance.now()`. */
	left: number;
	time: number;
}

/** The lists of devices, by their hash: thousands of devices of one firmware store them once. */
export class Lists {
	readonly #offers = new LRUCache<string, Offers>({ max: MAX_LISTS });
	readonly #keys = new WeakMap<Offers, string>();
	/** By key. */
	readonly #known = new Map<string, Known>();
	/** By device. */
	readonly #changes = new LRUCache<string, Changes>({ max: MAX_COUNTED });
	#refused = 0;

	/** How often lists of a device could not be stored. */
	get refused(): number {
		return this.#refused;
	}

	/** The lists that {@link load} has read. */
	get(key: string): Offers | undefined {
		return this.#offers.get(key);
	}

	/** Whether lists are in the bucket, and do not expire soon. */
	isStored(key: string): boolean {
		const known = this.#known.get(key);
		return known !== undefined && performance.now() - known.stored < RENEWAL;
	}

	/** Stores the lists of a device, unless they are too long, it has changed them too often, or the bucket is full. */
	async store(bucket: KV, device: string, offers: Offers, maxBytes: number): Promise<StoredLists> {
		const old = this.#keys.get(offers);
		if (old !== undefined && this.isStored(old)) {
			this.#changesOf(device).key = old;
			return { key: old };
		}
		const { tools, resources, resourceTemplates, prompts } = offers;
		const text = JSON.stringify({ tools, resources, resourceTemplates, prompts });
		const key = createHash("sha256").update(text).digest("hex").slice(0, 32);
		const changes = this.#changesOf(device);
		const problem = this.isStored(key) ? undefined : await this.#put(bucket, key, text, changes, maxBytes);
		if (problem !== undefined) {
			this.#refused += 1;
			return { key: changes.key, problem };
		}
		changes.key = key;
		this.#offers.set(key, offers);
		this.#keys.set(offers, key);
		return { key };
	}

	/** Reads lists. Undefined: they have expired. */
	async load(bucket: KV, key: string): Promise<Offers | undefined> {
		const known = this.#offers.get(key);
		if (known !== undefined) {
			return known;
		}
		const entry = await bucket.get(key);
		const offers = entry?.operation === "PUT" ? readMessage(offersSchema, entry.value) : undefined;
		if (offers !== undefined) {
			this.#offers.set(key, offers);
			this.#keys.set(offers, key);
		}
		return offers;
	}

	/** Some gateway has stored or removed lists: an entry of the bucket, with or without its value. */
	received({ key, operation, revision }: Pick<KvWatchEntry, "key" | "operation" | "revision">): void {
		if (operation === "PUT") {
			this.#known.set(key, { revision, stored: performance.now(), isUnused: false });
		} else {
			this.#known.delete(key);
		}
	}

	/** Removes lists that no device used now and at the time before. */
	async tidy(bucket: KV, used: ReadonlySet<string>): Promise<void> {
		for (const [key, known] of this.#known) {
			if (used.has(key) || !known.isUnused) {
				known.isUnused = !used.has(key);
				continue;
			}
			try {
				await bucket.delete(key, { previousSeq: known.revision });
				this.#known.delete(key);
			} catch (error) {
				// Another gateway has removed or stored them.
				if (!isOutdated(error)) {
					throw error;
				}
			}
		}
	}

	/** The bucket may be another one now: everything is stored again. */
	forgetStored(): void {
		this.#known.clear();
	}

	async #put(
		bucket: KV,
		key: string,
		text: string,
		changes: Changes,
		maxBytes: number,
	): Promise<StoredLists["problem"]> {
		const bytes = Buffer.byteLength(text);
		if (bytes > maxBytes) {
			return { kind: "long", text: `they are too long: ${bytes} bytes (limit ${maxBytes})` };
		}
		if (changes.key !== key && changes.left < 1) {
			const minutes = CHANGE_TIME / 60_000;
			return { kind: "often", text: `they change too often (limit ${MAX_CHANGES}, then one in ${minutes} minutes)` };
		}
		try {
			const revision = await bucket.put(key, text);
			changes.left -= changes.key === key ? 0 : 1;
			this.received({ key, operation: "PUT", revision });
			return undefined;
		} catch (error) {
			if (error instanceof JetStreamApiError) {
				return { kind: "full", text: `NATS does not store them: ${error.message}` };
			}
			throw error;
		}
	}

	#changesOf(device: string): Changes {
		const now = performance.now();
		const changes = this.#changes.get(device) ?? { key: NO_LISTS, left: MAX_CHANGES, time: now };
		changes.left = Math.min(MAX_CHANGES, changes.left + (now - changes.time) / CHANGE_TIME);
		changes.time = now;
		this.#changes.set(device, changes);
		return changes;
	}
}
