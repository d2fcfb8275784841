import { mkdirSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as core from "xs-mcp-manager/core";

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

/** Removes the temporary files of killed processes from a folder and its subfolders. */
export async function removeTemporaryFiles(folder: string): Promise<void> {
	for (const entry of await readdir(folder, { withFileTypes: true })) {
		const path = join(folder, entry.name);
		if (entry.isDirectory()) {
			await removeTemporaryFiles(path);
		} else if (TEMPORARY.test(entry.name) && (await stat(path)).mtimeMs < Date.now() - MAX_WRITE_TIME) {
			await rm(path, { force: true });
		}
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
export class UnsavedError extends Error {
	/** Error code of the file system, such as ENOSPC. */
	readonly code: string | undefined;

	constructor(path: string, cause: NodeJS.ErrnoException) {
		const { code } = cause;
		const cure = CURES[code ?? ""];
		super(`${path}: cannot be written: ${cure === undefined ? cause.message : `${cure} (${code})`}`, { cause });
		this.name = "UnsavedError";
		this.code = code;
	}
}
