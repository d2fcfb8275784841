import { homedir } from "node:os";
import { basename, dirname, resolve } from "node:path";
import { isObject } from "xs-mcp-firmware/core/text/json";
import type * as z from "zod";
import { describeIssue } from "../core/errors.js";
import type { ConfigProblem } from "./configured-servers.js";
import { hostEntry, hostId, type Path, parseFile, plainEntry } from "./host-entry.js";
import {
	fieldProblemOf,
	HOST_SERVER,
	LISTED_SERVER,
	OPTIONS,
	type ServerConfig,
	type ServerInput,
	type ServerOptions,
	serverConfig,
	transportOf,
	wordsOf,
} from "./server-config.js";

/** The contents of a servers file: the valid servers, and the errors of the others. */
type ReadServers = ReturnType<typeof readParsed>;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads servers from JSON, with comments or without, or YAML: `servers` as a list, or `mcpServers` by id as hosts write it. One bad
 * server does not stop the others. `${NAME}` in a value is an environment variable, `${NAME:-text}` has a default.
 *
 * @param file its name, for the problems
 */
export function readServers(text: string, file: string, environment: Environment = process.env): ReadServers {
	try {
		return readParsed(parseFile(text, file), file, environment);
	} catch (error) {
		return brokenFile(file, error as Error);
	}
}

function readParsed(parsed: ReturnType<typeof parseFile>, file: string, environment: Environment) {
	const problems: ConfigProblem[] = [];
	const configs = new Map<string, ServerConfig>();
	const invalidIds = new Set<string>();

	/** The line of the innermost part of the path that is in the file. */
	const lineAt = (path: Path): number => {
		for (let length = path.length; length > 0; length -= 1) {
			const found = parsed.find(path.slice(0, length));
			if (found !== undefined) {
				return found.line;
			}
		}
		return 1;
	};

	const note = (path: Path, message: string): void => {
		const field = path.map((part, index) =>
			typeof part === "number" ? `[${part}]` : `${index > 0 ? "." : ""}${part}`,
		);
		problems.push({ file, line: lineAt(path), field: field.join(""), message });
	};

	/**
	 * Returns a value with its variables expanded, at any depth.
	 *
	 * @param isOff whether the server is disabled: its variables need not be set
	 */
	const expand = (value: unknown, path: Path, variables: Environment, isOff: boolean): unknown => {
		if (typeof value === "string") {
			return value.replace(VARIABLE, (whole, kind: string | undefined, name: string, fallback?: string) => {
				// VS Code asks the user for an input. Here its value comes from the environment.
				const variable = variables[kind === "input" ? inputVariable(name) : name];
				const found = (kind === undefined ? FOLDERS[name]?.(file) : undefined) ?? variable ?? fallback;
				if (found === undefined && !isOff) {
					note(path, missing(kind, name));
				}
				return found ?? whole;
			});
		}
		const inside = (key: string | number, item: unknown): unknown => expand(item, [...path, key], variables, isOff);
		if (Array.isArray(value)) {
			return value.map((item, index) => inside(index, item));
		}
		return isObject(value)
			? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inside(key, item)]))
			: value;
	};

	/** Returns the checked value; undefined if there are more than `count` problems afterwards. */
	const check = <T>(schema: z.ZodType<T>, value: unknown, path: Path, count = problems.length): T | undefined => {
		const result = schema.safeParse(value);
		for (const issue of result.error?.issues ?? []) {
			const keys = issue.code === "unrecognized_keys" ? issue.keys : [];
			const where = [...path, ...(issue.path as (string | number)[]), ...keys.slice(0, 1)];
			const given = parsed.find(where)?.value;
			const isQuoted = typeof given === "string" || typeof given === "number";
			const text = `${describeIssue(issue)}${isQuoted ? `, got ${JSON.stringify(given)}` : ""}`;
			note(where, keys.length > 0 ? "unknown field" : text);
		}
		return problems.length > count ? undefined : result.data;
	};

	/**
	 * Reads an entry of a host, or of our own list, with its variables expanded. Those of its own `env` take precedence, because
	 * programs such as mcp-remote expand them in their arguments. A disabled server may have undefined variables.
	 *
	 * @returns undefined if it is not valid
	 * @throws McpError: see {@link fieldProblemOf}
	 */
	const readEntry = (given: unknown, path: Path, isListed: boolean): ServerInput | undefined => {
		const { entry, unknown } = isListed ? { entry: plainEntry(given), unknown: [] } : hostEntry(given);
		const schema: z.ZodType<z.output<typeof LISTED_SERVER>> = isListed ? LISTED_SERVER : HOST_SERVER;
		const count = problems.length;
		const { env: ownVariables, ...members } = isObject(entry) ? entry : {};
		const isOff = members.enabled === false;
		const env = expand(ownVariables, [...path, "env"], environment, isOff);
		const variables = { ...environment, ...(isObject(env) && (env as Environment)) };
		const expanded = { ...(expand(members, path, variables, isOff) as object), ...(env !== undefined && { env }) };
		const server = check(schema, isObject(entry) ? expanded : entry, path, count);
		if (server === undefined) {
			return undefined;
		}
		// In a list, the name is a member of the entry.
		const key = path.at(-1);
		const name = typeof key === "string" ? key : (server.id ?? server.name);
		if (name === undefined) {
			note([...path, isListed ? "id" : "name"], "is missing");
			return undefined;
		}
		for (const member of unknown) {
			note([...path, member], member === "type" ? "unknown, ignored" : "unknown field, ignored");
		}
		const { url, command, args = [] } = members as { url?: string; command?: string; args?: string[] };
		const input = {
			...server,
			shown: url ?? [command, ...args].join(" "),
			...(isListed
				? // Without `enabled`, a server with an id is not connected at the start, and one with only a name is.
					{ id: name, enabled: server.enabled ?? server.id === undefined }
				: { id: hostId(name), name: server.name ?? name }),
		};
		if (url === undefined || server.command !== undefined || transportOf(server) !== "stdio") {
			return input;
		}
		// Split before variables are expanded: a value with spaces or quotes stays one word.
		const words = wordsOf(url).map((word) => expand(word, path, variables, isOff)) as [string, ...string[]];
		return { ...input, url: undefined, command: words[0], args: [...words.slice(1), ...(server.args ?? [])] };
	};

	const add = (path: Path, given: unknown, isListed: boolean, options: ServerOptions): void => {
		let config: ServerConfig | undefined;
		try {
			const input = readEntry(given, path, isListed);
			config = input && serverConfig(input, options);
		} catch (error) {
			const { field, problem } = fieldProblemOf(error);
			note([...path, field], problem);
		}
		if (config === undefined) {
			const key = path.at(-1);
			const { id, name } = (isObject(given) ? given : {}) as { id?: unknown; name?: unknown };
			invalidIds.add(typeof key === "string" ? hostId(key) : String(id ?? name));
		} else if (configs.has(config.id)) {
			note([...path, "id"], `duplicate id '${config.id}'`);
		} else {
			configs.set(config.id, config);
		}
	};

	const { content } = parsed;
	const hosts = isObject(content) ? (content.mcpServers ?? content.servers) : undefined;
	if (!isObject(content) || (!isObject(hosts) && !Array.isArray(hosts))) {
		throw new Error("expected an object with servers or mcpServers");
	}
	const options = check(OPTIONS, plainEntry(content.options) ?? {}, ["options"]) ?? {};
	const key = content.mcpServers === hosts ? "mcpServers" : "servers";
	for (const [name, entry] of Object.entries(hosts)) {
		const path = [key, Array.isArray(hosts) ? Number(name) : name];
		add(path, entry, Array.isArray(hosts) && key === "servers", options);
	}
	return { configs: [...configs.values()], problems, invalidIds, isBroken: false as boolean };
}

/** `${NAME}`, `${NAME:-text}`; of Cursor and VS Code also `${env:NAME}` and `${input:name}`. */
const VARIABLE = /\$\{(?:(env|input):)?([A-Za-z_][A-Za-z0-9_-]*)(?::-([^}]*))?\}/g;

/** Hosts' variables for folders, from the path of the file. In `.vscode` or `.cursor`, they mean the parent folder. */
const FOLDERS: Readonly<Record<string, (file: string) => string>> = {
	workspaceFolder: (file) => {
		const folder = dirname(resolve(file));
		return /^\.(vscode|cursor)$/.test(basename(folder)) ? dirname(folder) : folder;
	},
	userHome: () => homedir(),
};

function inputVariable(name: string): string {
	return name.toUpperCase().replace(/-/g, "_");
}

function missing(kind: string | undefined, name: string): string {
	return kind === "input"
		? `the input ${name} cannot be asked for: set the environment variable ${inputVariable(name)}`
		: `the environment variable ${name} is not set`;
}

/** A file that cannot be read: one problem of the whole file. The error of a parser has its line. */
export function brokenFile(file: string, { line = 1, message }: Error & { readonly line?: number }): ReadServers {
	return { configs: [], problems: [{ file, line, field: "", message }], invalidIds: new Set(), isBroken: true };
}
