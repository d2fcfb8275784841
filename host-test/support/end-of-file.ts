import type { EventEmitter } from "node:events";

/**
 * Ends what the tests of a file share, after the last of them. The module that shares it is loaded once in a process of
 * tests: its task is carried out after each file from then on.
 */
export function atEndOfFile(task: () => Promise<void>): void {
	// Emitted by runner/entry.mjs, which is not bundled with the tests.
	(process as EventEmitter).on("endOfFile", (wait: (task: Promise<void>) => void) => wait(task()));
}
