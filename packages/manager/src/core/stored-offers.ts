import { createHash } from "node:crypto";
import * as z from "zod";
import type { Entry, Store } from "../store/store.js";
import { describeIssues } from "./input-schema.js";
import { RateLimit } from "./limits.js";
import { NO_OFFERS, type Offers } from "./offers.js";
import type { Server } from "./server.js";

/** In the store, before the hash of lists. */
export const OFFERS = "offers/";

/** Lists that a device may store one after the other, and the time until it may store one more, in milliseconds. */
const MAX_CHANGES = 20;
const CHANGE_TIME = 300_000;

const SCHEMA = z.object({
	tools: z.array(z.looseObject({ name: z.string(), inputSchema: z.looseObject({ type: z.literal("object") }) })),
	resources: z.array(z.looseObject({ uri: z.string(), name: z.string() })).optional(),
	resourceTemplates: z.array(z.looseObject({ uriTemplate: z.string(), name: z.string() })).optional(),
	prompts: z.array(z.looseObject({ name: z.string() })).optional(),
});

/** The lists of servers, in memory and in the store, by their hash: devices of one firmware share one object and one entry. */
export type StoredOffers = ReturnType<typeof openStoredOffers>;

/** Opens the lists in a store. */
export function openStoredOffers(store: Store, warn: (message: string) => void) {
	const objects = new Map<string, WeakRef<Offers>>();
	const hashes = new WeakMap<Offers, string>();
	const freed = new FinalizationRegistry<string>((hash) => {
		// Equal lists may have come since.
		if (objects.get(hash)?.deref() === undefined) {
			objects.delete(hash);
		}
	});
	/** Parsed lists by the value of their entry; undefined: not valid. */
	const read = new WeakMap<object, Offers | undefined>();
	const writes = new Map<string, Promise<Entry>>();
	/** Rate limit of each server, with the last counted hash: a retry is no change. */
	const counted = new WeakMap<Server, { readonly limit: RateLimit; hash: string }>();
	/** Keys that no device used at the last check. */
	let unused = new Set<string>();

	const hashOf = (offers: Offers): string => {
		const hash = hashes.get(offers) ?? hashOfOffers(offers);
		hashes.set(offers, hash);
		return hash;
	};

	/** Returns the one object with these lists. */
	const share = (offers: Offers): Offers => {
		const hash = hashOf(offers);
		const shared = objects.get(hash)?.deref();
		if (shared === undefined) {
			objects.set(hash, new WeakRef(offers));
			freed.register(offers, hash);
		}
		return shared ?? offers;
	};

	return {
		hashOf,
		share,
		/** The lists with this hash; undefined: they are not stored, or cannot be read. */
		get(hash: string): Offers | undefined {
			const value = store.get(OFFERS + hash)?.value as object | undefined;
			if (value !== undefined && !read.has(value)) {
				const { error } = SCHEMA.safeParse(value);
				if (error !== undefined) {
					warn(`${OFFERS}${hash}: not lists of a device: ${describeIssues(error.issues, "content")}`);
				}
				// Not the result of the schema, whose members have another order: equal lists are found by their JSON.
				read.set(value, error ? undefined : share({ ...NO_OFFERS, ...value }));
			}
			return value && read.get(value);
		},
		/** Stores the lists of a device. Returns their hash. Rejects with StoreError, and with RangeError if they change too often. */
		async save(device: Server): Promise<string> {
			const { offers } = device;
			const hash = hashOf(offers);
			const key = OFFERS + hash;
			const isStored = store.get(key) !== undefined;
			// Written again if nobody has used them: another gateway may be about to remove this revision.
			if (isStored && !unused.delete(key)) {
				return hash;
			}
			const changes = counted.get(device) ?? { limit: new RateLimit(1_000 / CHANGE_TIME, MAX_CHANGES), hash: "" };
			counted.set(device, changes);
			const writing = writes.get(key);
			if (writing === undefined && !isStored && hash !== changes.hash && !changes.limit.take()) {
				const minutes = CHANGE_TIME / 60_000;
				throw new RangeError(`they change too often (limit ${MAX_CHANGES}, then one in ${minutes} minutes)`);
			}
			changes.hash = hash;
			const written = writing ?? store.set(key, offers);
			writes.set(key, written);
			try {
				await written;
			} finally {
				writes.delete(key);
			}
			return hash;
		},
		/** Removes lists whose hash no device used now and at the check before. What could not be removed is found again. */
		async removeUnused(used: ReadonlySet<unknown>): Promise<void> {
			const found = store.list(OFFERS).filter(({ key }) => !used.has(key.slice(OFFERS.length)));
			const before = unused;
			unused = new Set(found.map(({ key }) => key));
			for (const { key, revision } of found.filter((entry) => before.has(entry.key))) {
				await store.delete(key, revision).catch(() => {});
			}
		},
	};
}

/** The hash by which lists are stored. */
export function hashOfOffers({ tools, resources, resourceTemplates, prompts }: Offers): string {
	const text = JSON.stringify({ tools, resources, resourceTemplates, prompts });
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
