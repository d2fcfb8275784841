import { LRUCache } from "lru-cache";
import pLimit, { type LimitFunction } from "p-limit";

/** Owners whose tasks are known. */
const MAX_OWNERS = 1_000;

/** Limits tasks that run at the same time, in all and for each owner, so that slow ones of one do not keep others waiting. */
export class FairLimit {
	readonly #all: LimitFunction;
	readonly #perOwner: number;
	readonly #owners = new LRUCache<string, LimitFunction>({ max: MAX_OWNERS });

	constructor({ all, perOwner }: { readonly all: number; readonly perOwner: number }) {
		this.#all = pLimit(all);
		this.#perOwner = perOwner;
	}

	/**
	 * Runs a task once there is room. Settles as the task does.
	 *
	 * @param isUrgent runs beside the limit for all, and beside the owner's other tasks
	 */
	async run<T>(owner: string, task: () => Promise<T>, isUrgent = false): Promise<T> {
		const key = isUrgent ? `urgent ${owner}` : owner;
		const own = this.#owners.get(key) ?? pLimit(this.#perOwner);
		this.#owners.set(key, own);
		return await own(() => (isUrgent ? task() : this.#all(task)));
	}
}
