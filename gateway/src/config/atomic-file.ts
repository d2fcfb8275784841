import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Replaces a file in one step, so that every reader sees the old or the new content, also after a power cut. Only this
 * user may read file and folder.
 */
export function replaceFile(path: string, content: string): void {
	mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
	const temporary = `${path}.${process.pid}.new`;
	writeFileSync(temporary, content, { mode: 0o600, flush: true });
	renameSync(temporary, path);
}
