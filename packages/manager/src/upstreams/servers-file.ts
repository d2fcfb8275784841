import { watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { ServerConfig } from "./server-config.js";

/** An error in a servers file. */
export interface ConfigProblem {
	readonly file: string;
	/** From 1. */
	readonly line: number;
	/** `servers[1].timeout`; empty: the whole file. */
	readonly field: string;
	readonly message: string;
}

/** The contents of a servers file: the valid servers, and the errors of the others. */
export interface ReadServers {
	readonly configs: readonly ServerConfig[];
	readonly problems: readonly ConfigProblem[];
	readonly invalidIds: ReadonlySet<string>;
	readonly isBroken: boolean;
}

/** One line for people. */
export function problemText({ file, line, field, message }: ConfigProblem): string {
	return field === ""
		? `Failed to parse MCP config file ${file}:${line}: ${message}`
		: `Invalid MCP config: ${file}:${line}: ${field}: ${message}`;
}

/** Validates a servers file: the problems, with line and field. A file that cannot be read is one problem. */
export async function validateServersFile(path: string): Promise<readonly ConfigProblem[]> {
	return (await readServersFile(path)).problems;
}

/** The configuration of one server of a file. Rejects with Error: "… not found", or the first problem of the file. */
export async function readServer(path: string, id: string): Promise<ServerConfig> {
	const { configs, problems } = await readServersFile(path);
	const server = configs.find((each) => each.id === id);
	if (server === undefined) {
		const [problem] = problems;
		throw new Error(problem === undefined ? `${path}: server ${id} not found` : problemText(problem));
	}
	return server;
}

/** Reads a servers file. One that cannot be read is one problem of the whole file. */
export async function readServersFile(path: string): Promise<ReadServers> {
	try {
		const content = await readFile(path, "utf8");
		// Loaded on demand: many programs have no file.
		const { readServers } = await import("./read-servers.js");
		return readServers(content, path);
	} catch (error) {
		const problem = { file: path, line: 1, field: "", message: (error as Error).message };
		return { configs: [], problems: [problem], invalidIds: new Set(), isBroken: true };
	}
}

/** Milliseconds for which changes are collected: editors write a file in several steps. */
const SETTLE_TIME = 200;

/**
 * Calls back after each change of a file. Watches the folder, because editors replace the file.
 *
 * @returns ends the watch
 * @throws Error if the folder does not exist
 */
export function watchServersFile(path: string, onChanged: () => void): () => void {
	let timer: NodeJS.Timeout | undefined;
	const watcher = watch(dirname(path), { persistent: false }, (_event, changed) => {
		if (changed === null || changed === basename(path)) {
			clearTimeout(timer);
			timer = setTimeout(onChanged, SETTLE_TIME);
		}
	});
	const end = (): void => {
		clearTimeout(timer);
		watcher.close();
	};
	watcher.on("error", end);
	return end;
}
