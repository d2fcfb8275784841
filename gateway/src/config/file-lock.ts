import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import lockfile from "proper-lockfile";

/** Milliseconds after which a lock that its holder no longer renews is taken over: that process was killed. */
const STALE_AFTER = 2_000;

/** Milliseconds between attempts grow from the first to the second; in all, they last several times as long as STALE_AFTER. */
const RETRIES = { retries: 100, factor: 1.3, minTimeout: 5, maxTimeout: 100, randomize: true };

/**
 * Changes a file under a lock: the process that creates the folder `PATH.locked` goes first, the others wait. A
 * lock whose process was killed is taken over after 2 s.
 *
 * Rejects with Error that names the file if another process keeps the lock for about 10 s.
 */
export async function withLock<T>(path: string, change: () => Promise<T>): Promise<T> {
	await mkdir(dirname(path), { recursive: true, mode: 0o700 });
	const release = await lockfile
		.lock(path, {
			// Not the default, PATH.lock: version 0.1 left files of that name, which cannot be taken over.
			lockfilePath: `${path}.locked`,
			realpath: false,
			stale: STALE_AFTER,
			retries: RETRIES,
			// By default it throws outside any promise. The file is replaced as a whole: the worst is a change that is lost.
			onCompromised: () => {},
		})
		.catch((error: Error) => {
			throw new Error(`${path}: another process is changing it: ${error.message}`, { cause: error });
		});
	try {
		return await change();
	} finally {
		// If another process has taken it over, it must not be released here.
		await release().catch(() => {});
	}
}
