import { LRUCache } from "lru-cache";
import pLimit, { type LimitFunction } from "p-limit";

/** One of a limited number of sessions or streams. */
interface Evictable {
	/** Its holder, from the most trustworthy fact to the least: token, address, application. */
	readonly holder: readonly string[];
	readonly isIdle: boolean;
}

/**
 * Finds the one that makes room for a newcomer if there are too many. Clients seldom say that a session is no longer needed:
 * the newcomer's own that has been idle for longest. A holder with fewer than its share takes the place of one of the holder
 * with the most, even if all of those are in use: first among tokens, then among addresses of its token, then among applications.
 *
 * @param open the one that was used last comes last
 * @returns undefined if the newcomer gets none
 */
export function victimFor<Each extends Evictable>(
	open: readonly Each[],
	newcomer: readonly string[],
	max: number,
): Each | undefined {
	let candidates = open;
	let room = max;
	for (const [level, own] of newcomer.entries()) {
		const counts = new Map([[own, 0]]);
		for (const { holder } of candidates) {
			const key = holder[level] as string;
			counts.set(key, (counts.get(key) ?? 0) + 1);
		}
		const share = Math.max(1, Math.floor(room / counts.size));
		const ofOwner = (owner: string) => candidates.filter(({ holder }) => holder[level] === owner);
		if ((counts.get(own) ?? 0) < share) {
			const [greediest] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one));
			const theirs = ofOwner(greediest);
			return theirs.find(({ isIdle }) => isIdle) ?? theirs[0];
		}
		candidates = ofOwner(own);
		room = candidates.length;
	}
	return candidates.find(({ isIdle }) => isIdle);
}

/** Owners whose tasks are known. */
const MAX_OWNERS = 1_000;

/**
 * Makes a function that limits tasks that run at the same time, in all and for each owner, so that slow ones of one do not keep
 * others waiting. It runs a task once there is room, and settles as the task does. An urgent task is
 * exempt from both limits.
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
