import { existsSync, type FSWatcher, watch } from "node:fs";
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
	return (await new ServersFile(path).read()).problems;
}

/** The configuration of one server of a file. Rejects with Error: "… not found", or the first problem of the file. */
export async function readServer(path: string, id: string): Promise<ServerConfig> {
	const { configs, problems } = await new ServersFile(path).read();
	const server = configs.find((each) => each.id === id);
	if (server === undefined) {
		const [problem] = problems;
		throw new Error(problem === undefined ? `${path}: server ${id} not found` : problemText(problem));
	}
	return server;
}

/** Milliseconds for which changes are collected: editors write a file in several steps. */
const SETTLE_TIME = 200;

/** The file in which servers are configured. */
export class ServersFile {
	readonly path: string;
	#watcher: FSWatcher | undefined;
	#timer: NodeJS.Timeout | undefined;

	constructor(path: string) {
		this.path = path;
	}

	exists(): boolean {
		return existsSync(this.path);
	}

	/** An unreadable file is one problem of the whole file. */
	async read(): Promise<ReadServers> {
		try {
			const content = await readFile(this.path, "utf8");
			// Loaded on demand: many programs have no file.
			const { readServers } = await import("./read-servers.js");
			return readServers(content, this.path);
		} catch (error) {
			const problem = { file: this.path, line: 1, field: "", message: (error as Error).message };
			return { configs: [], problems: [problem], invalidIds: new Set(), isBroken: true };
		}
	}

	/**
	 * Calls back after each change from now on, unless it does so already. Watches the folder, because editors replace the file.
	 *
	 * @throws Error if the folder does not exist
	 */
	watch(onChanged: () => void): void {
		if (this.#watcher !== undefined) {
			return;
		}
		const name = basename(this.path);
		this.#watcher = watch(dirname(this.path), { persistent: false }, (_event, changed) => {
			if (changed === null || changed === name) {
				clearTimeout(this.#timer);
				this.#timer = setTimeout(onChanged, SETTLE_TIME);
			}
		});
		this.#watcher.on("error", () => this.close());
	}

	close(): void {
		clearTimeout(this.#timer);
		this.#watcher?.close();
	}
}
