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
	/** Ids of servers that cannot be used. */
	readonly invalidIds: ReadonlySet<string>;
	/** Whether the file as a whole could not be read. */
	readonly isBroken: boolean;
}

/** One line for people. */
export function problemText({ file, line, field, message }: ConfigProblem): string {
	return field === ""
		? `Failed to parse MCP config file ${file}:${line}: ${message}`
		: `Invalid MCP config: ${file}:${line}: ${field}: ${message}`;
}

/** A file that cannot be used at all. */
export function brokenFile(problem: ConfigProblem): ReadServers {
	return { configs: [], problems: [problem], invalidIds: new Set(), isBroken: true };
}
