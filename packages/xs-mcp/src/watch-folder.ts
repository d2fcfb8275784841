import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";

/** Folders in which a project's sources are not: what is installed, and what is made. */
const NO_SOURCES = new Set(["node_modules", "build", "dist"]);

/** Milliseconds without a change after which a change is told: an editor writes a file in several steps. */
const SETTLED = 60;

/** Folders watched at most: more is not a project's folder. */
const MAX_FOLDERS = 500;

/**
 * Watches a project's folder and those in it.
 *
 * @param onChange called after changes, once for a burst of them
 * @returns ends that
 */
export function watchFolder(folder: string, onChange: () => void): () => void {
	const watchers = new Map<string, FSWatcher>();
	let timer: NodeJS.Timeout | undefined;
	const changed = (name: string | null): void => {
		// The device's own settings, an editor's copies and version control are no sources.
		if (name === null || !isSource(name)) {
			return;
		}
		clearTimeout(timer);
		timer = setTimeout(() => {
			add(folder);
			onChange();
		}, SETTLED);
	};
	const add = (path: string): void => {
		if (!watchers.has(path) && watchers.size < MAX_FOLDERS) {
			const watcher = watch(path, (_, name) => changed(name));
			watcher.on("error", () => {
				watcher.close();
				watchers.delete(path);
			});
			watchers.set(path, watcher);
		}
		for (const entry of readdirSync(path, { withFileTypes: true })) {
			if (entry.isDirectory() && isSource(entry.name)) {
				add(join(path, entry.name));
			}
		}
	};
	add(folder);
	return () => {
		clearTimeout(timer);
		for (const watcher of watchers.values()) {
			watcher.close();
		}
	};
}

function isSource(name: string): boolean {
	return !name.startsWith(".") && !name.endsWith("~") && !NO_SOURCES.has(name);
}
