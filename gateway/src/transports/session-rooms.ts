/** Holder of a session, from the most trustworthy fact to the least: token, address, application. */
export type SessionHolder = readonly [principal: string, address: string, name: string];

/** A session that may have to make room. */
interface Evictable {
	readonly holder: SessionHolder;
	readonly idle: boolean;
}

/**
 * Which session makes room for a newcomer's if there are too many. Clients seldom say that a session is no longer needed: the
 * newcomer's own that has been idle for longest. One with fewer sessions than its share takes the place of the one with
 * the most, even if all of those are in use: first among tokens, then among addresses of its token, then among applications.
 *
 * @param sessions the one that was used last comes last
 * @returns undefined if the newcomer gets none
 */
export function sessionToEnd<Session extends Evictable>(
	sessions: readonly Session[],
	newcomer: SessionHolder,
	maxSessions: number,
): Session | undefined {
	let candidates = sessions;
	let room = maxSessions;
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
			return theirs.find(({ idle }) => idle) ?? theirs[0];
		}
		candidates = ofOwner(own);
		room = candidates.length;
	}
	return candidates.find(({ idle }) => idle);
}
