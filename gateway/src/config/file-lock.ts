import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Milliseconds to wait for another process to change the file. */
const PATIENCE = 5_000;

/** Milliseconds between attempts. */
const INTERVAL = 10;

/**
 * Changes a file while no other process does: the one that creates `PATH.lock` goes first, the others wait.
 *
 * @throws Error that names the lock's file if it is still there after 5 s
 */
export function withLock<T>(path: string, change: () => T): T {
	const lock = `${path}.lock`;
	mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
	const end = Date.now() + PATIENCE;
	while (!tryToCreate(lock)) {
		if (Date.now() > end) {
			throw new Error(`${lock}: held by process ${holderOf(lock)}. If that process has ended, delete this file`);
		}
		sleep(INTERVAL);
	}
	try {
		return change();
	} finally {
		rmSync(lock);
	}
}

function tryToCreate(lock: string): boolean {
	try {
		const file = openSync(lock, "wx", 0o600);
		writeSync(file, String(process.pid));
		closeSync(file);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") {
			return false;
		}
		throw error;
	}
}

function holderOf(lock: string): string {
	try {
		return readFileSync(lock, "utf8");
	} catch {
		return "unknown";
	}
}

/** Blocks this thread: tokens are changed by short commands, which have nothing else to do. */
function sleep(milliseconds: number): void {
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
