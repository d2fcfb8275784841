import { mkdirSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import writeFileAtomic from "write-file-atomic";

/** Only this user can read the file and its folder. */
const FILE = { mode: 0o600 };
const FOLDER = { recursive: true, mode: 0o700 };

/** Replaces a file atomically: every reader sees the old or the new content, also after a power cut. */
export async function replaceFile(path: string, content: string): Promise<void> {
	await mkdir(dirname(path), FOLDER);
	await writeFileAtomic(path, content, FILE);
}

/** The same, synchronously: for a small file that is written only once. */
export function replaceFileSync(path: string, content: string): void {
	mkdirSync(dirname(path), FOLDER);
	writeFileAtomic.sync(path, content, FILE);
}
