import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import lockfile from "proper-lockfile";
import { UnsavedError } from "./atomic-file.js";
import { ConfigurationError } from "./configuration-error.js";

/** Milliseconds after which a lock that its holder no longer renews is taken over: that process was killed. */
const STALE_AFTER = 2_000;

/** Milliseconds between attempts grow from the first to the second; in all, they last several times as long as STALE_AFTER. */
const RETRIES = { retries: 100, factor: 1.3, minTimeout: 5, maxTimeout: 100, randomize: true };

/** A little longer than STALE_AFTER in all: a gateway that runs keeps its lock for hours. */
const FOLDER_RETRIES = { retries: 30, factor: 1, minTimeout: 100, maxTimeout: 100 };

/**
 * Changes a file under a lock, the folder `PATH.locked`. A lock whose process was killed is taken over after 2 s.
 *
 * Rejects with Error that names the file if another process keeps the lock for about 10 s, or it cannot be written.
 */
export async function withLock<T>(path: string, change: () => Promise<T>): Promise<T> {
	const release = await lock(path, {
		retries: RETRIES,
		// By default it throws outside any promise. The store checks that nothing has changed before it replaces a file.
		onCompromised: () => {},
	}).catch((error: NodeJS.ErrnoException) => {
		throw error.code === "ELOCKED"
			? new Error(`${path}: another process is changing it: ${error.message}`, { cause: error })
			: new UnsavedError(path, error);
	});
	try {
		return await change();
	} finally {
		// If another process has taken it over, it must not be released here.
		await release().catch(() => {});
	}
}

/**
 * Locks a gateway's state folder until the process ends. Rejects with ConfigurationError if a gateway runs with the folder, or it
 * cannot be written.
 *
 * @param onLost called if another process has taken the lock over, because this one was stopped for a while
 * @returns a function that releases it
 */
export async function lockStateFolder(folder: string, onLost: () => void): Promise<() => Promise<void>> {
	try {
		const release = await lock(join(folder, "gateway"), { retries: FOLDER_RETRIES, onCompromised: onLost });
		return () => release().catch(() => {});
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		const problem =
			code === "ELOCKED"
				? `stateFolder ${folder}: another gateway runs with this folder. Stop it, give this one another folder with ` +
					"--state-folder, or connect an MCP client to the running gateway: xs-mcp-gateway stdio"
				: `stateFolder ${new UnsavedError(folder, error as Error).message}`;
		throw new ConfigurationError([problem], { cause: error });
	}
}

async function lock(
	path: string,
	options: Pick<lockfile.LockOptions, "retries" | "onCompromised">,
): Promise<() => Promise<void>> {
	await mkdir(dirname(path), { recursive: true, mode: 0o700 });
	// Not the default, PATH.lock: version 0.1 left files of that name, which cannot be taken over.
	return await lockfile.lock(path, { lockfilePath: `${path}.locked`, realpath: false, stale: STALE_AFTER, ...options });
}
