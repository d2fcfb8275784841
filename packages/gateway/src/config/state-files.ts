import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import lockfile from "proper-lockfile";
import * as core from "xs-mcp-manager/core";
import { GatewayError } from "../gateway-error.js";
import { ConfigurationError } from "../plugin.js";

/** Only this user can read it, and the file. */
const FOLDER = { recursive: true, mode: 0o700 };

/** The same as {@link core.replaceFileSync}, in a folder that may be missing. @throws UnsavedError */
export function replaceFileSync(path: string, content: string): void {
	try {
		mkdirSync(dirname(path), FOLDER);
		core.replaceFileSync(path, content);
	} catch (error) {
		throw new UnsavedError(path, error as Error);
	}
}

/** Names of the files that {@link core.replaceFile} and the store write first. */
const TEMPORARY = /^(?:(?:device-key|.+\.json)\.\d+|.+\.json\.new|version\.[0-9a-f-]+)$/;

/** Milliseconds after which the writer of a temporary file counts as killed. */
const MAX_WRITE_TIME = 60_000;

/**
 * Removes the temporary files of killed processes from a folder and its subfolders, except those that it may not read: lost+found.
 *
 * Rejects with ConfigurationError if a file of entries cannot be read: the store would treat it as damaged.
 */
export async function tidyFolder(folder: string): Promise<void> {
	const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
		if (error.code !== "EACCES") {
			throw error;
		}
		return [];
	});
	for (const entry of entries) {
		const path = join(folder, entry.name);
		if (entry.isDirectory()) {
			await tidyFolder(path);
		} else if (TEMPORARY.test(entry.name) && (await stat(path)).mtimeMs < Date.now() - MAX_WRITE_TIME) {
			await rm(path, { force: true });
		} else if (entry.name.endsWith(".json")) {
			expectReadable(path);
		}
	}
}

/** @throws ConfigurationError with the next step */
function expectReadable(path: string): void {
	try {
		closeSync(openSync(path, "r"));
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		const cure = "make the gateway's user the owner of the state folder: chown -R USER FOLDER";
		throw new ConfigurationError([`stateFolder ${path}: cannot be read: ${cure} (${code})`], { cause: error });
	}
}

/** Makes a command of root act as the owner of a state folder: the gateway could not read files of root. */
export function actAsOwner(folder: string): void {
	const owner = process.getuid?.() === 0 ? statSync(folder, { throwIfNoEntry: false }) : undefined;
	if (owner !== undefined && owner.uid !== 0) {
		process.setegid?.(owner.gid);
		process.seteuid?.(owner.uid);
	}
}

/** Advice for an error of the file system. */
const CURES: Readonly<Record<string, string>> = {
	EACCES: "let this user write there, or choose another folder with --state-folder",
	EPERM: "let this user write there, or choose another folder with --state-folder",
	EROFS: "its file system is read-only: choose another folder with --state-folder",
	ENOTDIR: "a part of the path is a file: choose another folder with --state-folder",
	ENOSPC: "the disk is full: free some space",
	EDQUOT: "the quota is used up: free some space",
};

/** A file or folder cannot be written. Its message is for the operator: it names the path. */
export class UnsavedError extends GatewayError {
	constructor(path: string, cause: NodeJS.ErrnoException) {
		const { code = "", message } = cause;
		const cure = CURES[code];
		super("unsaved", `${path}: cannot be written: ${cure === undefined ? message : `${cure} (${code})`}`, { cause });
	}
}

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

/** Kinds of saved data: entries of the store, lines of logs, events of a cluster. A full disk may have room for a line but not an entry. */
type Saved = "store" | "log" | "events";

/** Whether the gateway can save its state, as of the last attempts. */
export class SaveState {
	readonly #onChange: (problem: Error | undefined) => void;
	readonly #problems = new Map<Saved, Error>();
	failures = 0;

	/** @param onChange called when a write fails after one that did not, and the reverse */
	constructor(onChange: (problem: Error | undefined) => void = () => {}) {
		this.#onChange = onChange;
	}

	/** Why something could not be saved; undefined if the last attempt of each kind succeeded. */
	get problem(): Error | undefined {
		const [problem] = this.#problems.values();
		return problem;
	}

	/** Notes that something was saved, or why it could not be. */
	note(saved: Saved, problem?: Error): void {
		const before = this.problem;
		if (problem === undefined) {
			this.#problems.delete(saved);
		} else {
			this.#problems.set(saved, problem);
			this.failures += 1;
		}
		if ((before === undefined) !== (this.problem === undefined)) {
			this.#onChange(this.problem);
		}
	}
}
