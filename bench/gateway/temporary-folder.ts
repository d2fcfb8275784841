import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder that is removed when it is no longer needed. */
export function makeTemporaryFolder(): { path: string; remove: () => void } {
	const path = mkdtempSync(join(tmpdir(), "xs-mcp-bench-"));
	return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
