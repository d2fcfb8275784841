import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import writeFileAtomic from "write-file-atomic";

const MODE = 0o600;

/**
 * Replaces a file atomically: every reader sees the old or the new content, also after a power cut, or if the disk fills up.
 * `check` is called once the new content is on the disk. If it throws, or the file system fails, the old content stays.
 */
export async function replaceFile(path: string, content: string, check = (): void => {}): Promise<void> {
	// The library writes once, and the file system may take only the first part. Node writes the rest, or fails.
	const tmpfileCreated = async (temporary: string): Promise<void> => {
		await writeFile(temporary, content, { flush: true });
		check();
	};
	await writeFileAtomic(path, "", { mode: MODE, tmpfileCreated });
}

/** The same, synchronously: for a small file that is written only once. */
export function replaceFileSync(path: string, content: string): void {
	const tmpfileCreated = (temporary: string): void => writeFileSync(temporary, content);
	writeFileAtomic.sync(path, "", { mode: MODE, tmpfileCreated });
}
