import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders = new Set<string>();

/** A new folder for a test. It stays until this process ends, because what a test started may write into it until then. */
export function temporaryFolder(prefix = "xs-mcp-"): string {
	const folder = mkdtempSync(join(tmpdir(), prefix));
	if (folders.size === 0) {
		process.once("exit", removeFolders);
	}
	folders.add(folder);
	return folder;
}

function removeFolders(): void {
	for (const folder of folders) {
		rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
	}
}
