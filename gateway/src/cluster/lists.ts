import { createHash } from "node:crypto";
import type { KV } from "@nats-io/kv";
import { LRUCache } from "lru-cache";
import type { Offers } from "xs-mcp-manager/core";
import { offersSchema, readMessage } from "./messages.js";

/** Most lists in memory that no device uses. */
const MAX_LISTS = 1_000;

/** Milliseconds after which lists in use are stored again, so that they do not expire. */
const RENEWAL = 86_400_000;

/** The lists of devices, by their hash: thousands of devices of one firmware store them once. */
export class Lists {
	readonly #offers = new LRUCache<string, Offers>({ max: MAX_LISTS });
	readonly #keys = new WeakMap<Offers, string>();
	/** When a list was stored last, by its key. */
	readonly #stored = new LRUCache<string, true>({ max: MAX_LISTS, ttl: RENEWAL });

	/** The lists that {@link load} has read. */
	get(key: string): Offers | undefined {
		return this.#offers.get(key);
	}

	/** Stores lists. Returns their key. Rejects with RangeError if they are too long. */
	async store(bucket: KV, offers: Offers, maxBytes: number): Promise<string> {
		const known = this.#keys.get(offers);
		if (known !== undefined && this.#stored.has(known)) {
			return known;
		}
		const { tools, resources, resourceTemplates, prompts } = offers;
		const text = JSON.stringify({ tools, resources, resourceTemplates, prompts });
		const bytes = Buffer.byteLength(text);
		if (bytes > maxBytes) {
			throw new RangeError(`its lists are too long for the cluster: ${bytes} bytes (limit ${maxBytes})`);
		}
		const key = createHash("sha256").update(text).digest("hex").slice(0, 32);
		if (!this.#stored.has(key)) {
			await bucket.put(key, text);
			this.#stored.set(key, true);
		}
		this.#offers.set(key, offers);
		this.#keys.set(offers, key);
		return key;
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

	/** The bucket may be another one now: everything is stored again. */
	forgetStored(): void {
		this.#stored.clear();
	}
}
