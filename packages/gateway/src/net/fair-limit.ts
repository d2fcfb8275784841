import { LRUCache } from "lru-cache";
import pLimit, { type LimitFunction } from "p-limit";

/** Owners whose tasks are known. */
const MAX_OWNERS = 1_000;

/**
 * Makes a function that limits tasks that run at the same time, in all and for each owner, so that slow ones of one do not keep
 * others waiting. It runs a task once there is room, and settles as the task does. An urgent one runs beside the limit for all,
 * and beside the owner's other tasks.
 */
export function fairLimit({ all, perOwner }: { readonly all: number; readonly perOwner: number }) {
	const limit = pLimit(all);
	const owners = new LRUCache<string, LimitFunction>({ max: MAX_OWNERS });
	return async <T>(owner: string, task: () => Promise<T>, isUrgent = false): Promise<T> => {
		const key = isUrgent ? `urgent ${owner}` : owner;
		const own = owners.get(key) ?? pLimit(perOwner);
		owners.set(key, own);
		return await own(() => (isUrgent ? task() : limit(task)));
	};
}
