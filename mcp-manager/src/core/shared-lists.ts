import { createHash } from "node:crypto";
import { LIST_NAMES, type Offers } from "./offers.js";

type Items = readonly object[];

/**
 * Lists of servers: equal ones are the same object, because thousands of devices of a kind have the same. A list is never
 * changed, so there is nothing to keep up to date; one that no server has any longer is freed.
 */
export class SharedLists {
	/** By a digest of its JSON. */
	readonly #lists = new Map<string, WeakRef<Items>>();
	/** Which list equals one that was shared before: of a cluster's devices, whose lists are read once. */
	readonly #known = new WeakMap<Items, Items>();
	/** The offers that were made last, by their tools. */
	readonly #offers = new WeakMap<Items, Offers>();
	readonly #freed = new FinalizationRegistry<string>((digest) => {
		// An equal list may have come since.
		if (this.#lists.get(digest)?.deref() === undefined) {
			this.#lists.delete(digest);
		}
	});

	/** The one list that equals this. */
	share<List extends Items>(items: List): List {
		const known = this.#known.get(items) as List | undefined;
		if (known !== undefined) {
			return known;
		}
		const digest = createHash("sha256").update(JSON.stringify(items)).digest("base64");
		const shared = (this.#lists.get(digest)?.deref() as List | undefined) ?? items;
		if (shared === items) {
			this.#lists.set(digest, new WeakRef(items));
			this.#freed.register(items, digest);
		}
		this.#known.set(items, shared);
		return shared;
	}

	/** The one object that has these lists, if its tools were shared with the same others before. */
	offers(offers: Offers): Offers {
		const found = this.#offers.get(offers.tools);
		if (found !== undefined && LIST_NAMES.every((list) => found[list] === offers[list])) {
			return found;
		}
		this.#offers.set(offers.tools, offers);
		return offers;
	}

	/** The same for every list of a server. */
	shareAll<Some extends Partial<Offers>>(offers: Some): Some {
		return Object.fromEntries(
			Object.entries(offers).map(([list, items]) => [list, this.share(items as Items)]),
		) as Some;
	}
}
