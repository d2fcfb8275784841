import { homedir } from "node:os";
import { basename, dirname, resolve } from "node:path";
import { type Document, isMap, LineCounter, type Node, parseDocument, type YAMLParseError } from "yaml";
import type { z } from "zod";
import { portable } from "../core/names.js";
import { isObject } from "../firmware.js";
import { brokenFile, type ConfigProblem, type ReadServers } from "./config-problem.js";
import {
	FieldError,
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

type Path = readonly (string | number)[];
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads servers from JSON or YAML: `servers` as a list, or `mcpServers` by id as hosts write it. One
 * bad server does not stop the others. `${NAME}` in a value is an environment variable, `${NAME:-text}` has a default.
 *
 * @param file its name, for the problems
 */
export function readServers(text: string, file: string, environment: Environment = process.env): ReadServers {
	return new Reader(text, file, environment).read();
}

class Reader {
	readonly #text: string;
	readonly #file: string;
	readonly #environment: Environment;
	readonly #lines = new LineCounter();
	readonly #document: Document.Parsed;
	readonly #problems: ConfigProblem[] = [];
	readonly #configs = new Map<string, ServerConfig>();
	readonly #invalidIds = new Set<string>();

	constructor(text: string, file: string, environment: Environment) {
		this.#text = text;
		this.#file = file;
		this.#environment = environment;
		this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false });
	}

	read(): ReadServers {
		const [error] = this.#document.errors;
		if (error !== undefined) {
			return this.#broken(syntaxProblem(this.#text, error), this.#lines.linePos(error.pos[0]).line);
		}
		const content: unknown = this.#document.toJS({ maxAliasCount: 100 });
		if (!isObject(content)) {
			return this.#broken("expected an object with servers or mcpServers");
		}
		const options = this.#checked(OPTIONS, content.options ?? {}, ["options"]) ?? {};
		const hostKey = isObject(content.mcpServers) ? "mcpServers" : "servers";
		if (isObject(content[hostKey])) {
			for (const [name, entry] of Object.entries(content[hostKey])) {
				this.#add([hostKey, name], entry, this.#hostServer(name, entry, [hostKey, name]), options);
			}
		} else if (Array.isArray(content.servers)) {
			content.servers.forEach((entry, index) => {
				this.#add(["servers", index], entry, this.#listedServer(entry, ["servers", index]), options);
			});
		} else {
			return this.#broken("expected an object with servers or mcpServers");
		}
		const configs = [...this.#configs.values()];
		return { configs, problems: this.#problems, invalidIds: this.#invalidIds, isBroken: false };
	}

	#broken(message: string, line = 1): ReadServers {
		return brokenFile({ file: this.#file, line, field: "", message });
	}

	/** Without `enabled`, a server that has an id is not connected at the start, and one that has only a name is. */
	#listedServer(entry: unknown, path: Path): ServerInput | undefined {
		const server = this.#checked(LISTED_SERVER, entry, path);
		const id = server?.id ?? server?.name;
		if (server !== undefined && id === undefined) {
			this.#problem([...path, "id"], "is missing");
			return undefined;
		}
		return server && { ...server, id: id as string, enabled: server.enabled ?? server.id === undefined };
	}

	#hostServer(name: string, entry: unknown, path: Path): ServerInput | undefined {
		const server = this.#checked(HOST_SERVER, withOurAuth(entry), path);
		if (server === undefined) {
			return undefined;
		}
		const { type, disabled, alwaysAllow, timeout, ...rest } = server;
		const transport = rest.transport ?? TRANSPORT_OF_TYPE[type ?? ""];
		return {
			...rest,
			...(transport && { transport }),
			...(timeout !== undefined && { timeout: timeout < MIN_MILLISECONDS ? timeout * 1_000 : timeout }),
			id: portable(name, "-"),
			name: rest.name ?? name,
			enabled: rest.enabled ?? disabled !== true,
			autoApprove: rest.autoApprove ?? alwaysAllow ?? false,
		};
	}

	/** @param entry as it is in the file, before environment variables were expanded */
	#add(path: Path, entry: unknown, input: ServerInput | undefined, options: ServerOptions): void {
		if (input === undefined) {
			this.#invalidIds.add(idOfEntry(entry, path));
			return;
		}
		try {
			const { url, command, args = [] } = entry as { url?: string; command?: string; args?: string[] };
			const shown = url ?? [command, ...args].join(" ");
			const config = serverConfig({ ...this.#withWords(input, url, path), shown }, options);
			if (this.#configs.has(config.id)) {
				this.#problem([...path, "id"], `duplicate id '${config.id}'`);
			} else {
				this.#configs.set(config.id, config);
			}
		} catch (error) {
			this.#invalidIds.add(input.id);
			if (!(error instanceof FieldError)) {
				throw error;
			}
			this.#problem([...path, error.field], error.problem);
		}
	}

	/**
	 * Takes a command apart before environment variables are expanded: a value with spaces or quotes stays one word.
	 *
	 * @param url as it is in the file
	 */
	#withWords(input: ServerInput, url: string | undefined, path: Path): ServerInput {
		if (url === undefined || input.command !== undefined || transportOf(input) !== "stdio") {
			return input;
		}
		const [command, ...args] = wordsOf(url).map((word) => this.#expanded(word, path) as string);
		return { ...input, url: undefined, command, args: [...args, ...(input.args ?? [])] };
	}

	#checked<T>(schema: z.ZodType<T>, value: unknown, path: Path): T | undefined {
		const count = this.#problems.length;
		const result = schema.safeParse(this.#expanded(value, path));
		for (const issue of result.error?.issues ?? []) {
			const keys = issue.code === "unrecognized_keys" ? issue.keys : [];
			const where = [...path, ...(issue.path as (string | number)[]), ...keys.slice(0, 1)];
			this.#problem(where, keys.length > 0 ? "unknown field" : messageOf(issue, this.#valueAt(where)));
		}
		return this.#problems.length > count ? undefined : result.data;
	}

	/** The value with its variables expanded, at any depth. */
	#expanded(value: unknown, path: Path): unknown {
		if (typeof value === "string") {
			return value.replace(VARIABLE, (_, kind: string | undefined, name: string, fallback?: string) => {
				// VS Code asks the user for an input. Here its value comes from the environment.
				const variable = this.#environment[kind === "input" ? inputVariable(name) : name];
				const found = (kind === undefined ? FOLDERS[name]?.(this.#file) : undefined) ?? variable ?? fallback;
				if (found === undefined) {
					this.#problem(path, missing(kind, name));
				}
				return found ?? "";
			});
		}
		if (Array.isArray(value)) {
			return value.map((item, index) => this.#expanded(item, [...path, index]));
		}
		return isObject(value)
			? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#expanded(item, [...path, key])]))
			: value;
	}

	#valueAt(path: Path): unknown {
		const node = this.#document.getIn(path);
		return isMap(node) ? undefined : node;
	}

	#problem(path: Path, message: string): void {
		this.#problems.push({ file: this.#file, line: this.#lineOf(path), field: fieldName(path), message });
	}

	/** The line of the innermost part of the path that is in the file. */
	#lineOf(path: Path): number {
		for (let length = path.length; length > 0; length -= 1) {
			const node = this.#document.getIn(path.slice(0, length), true) as Node | undefined;
			if (node?.range) {
				return this.#lines.linePos(node.range[0]).line;
			}
		}
		return 1;
	}
}

/** `${NAME}`, `${NAME:-text}`; of Cursor and VS Code also `${env:NAME}` and `${input:name}`. */
const VARIABLE = /\$\{(?:(env|input):)?([A-Za-z_][A-Za-z0-9_-]*)(?::-([^}]*))?\}/g;

/** Folders that hosts name, from the path of the file: those that keep it in `.vscode` or `.cursor` mean the folder around it. */
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

/** The id of an entry that may not be valid. */
function idOfEntry(entry: unknown, [, key]: Path): string {
	const { id, name } = (isObject(entry) ? entry : {}) as { id?: unknown; name?: unknown };
	return typeof key === "string" ? portable(key, "-") : String(id ?? name);
}

/** Cline writes time limits in seconds: smaller values are not plausible as milliseconds. */
const MIN_MILLISECONDS = 1_000;

/** Transport names of hosts. */
const TRANSPORT_OF_TYPE: Readonly<Record<string, ServerConfig["transport"]>> = {
	stdio: "stdio",
	http: "http",
	"streamable-http": "http",
	streamableHttp: "http",
	sse: "sse",
	ws: "websocket",
	websocket: "websocket",
};

function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
	const text = issue.message.replace(/^Invalid input: /, "").replace(/^Invalid option: /, "");
	return typeof value === "string" || typeof value === "number" ? `${text}, got ${JSON.stringify(value)}` : text;
}

function fieldName(path: Path): string {
	return path
		.map((part, index) => (typeof part === "number" ? `[${part}]` : `${index > 0 ? "." : ""}${part}`))
		.join("");
}

/** An entry whose `auth` is in our form: Cursor has CLIENT_ID, CLIENT_SECRET and scopes. */
function withOurAuth(entry: unknown): unknown {
	if (!isObject(entry) || !isObject(entry.auth) || entry.auth.CLIENT_ID === undefined) {
		return entry;
	}
	const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, scopes } = entry.auth;
	const scope = Array.isArray(scopes) ? scopes.join(" ") : scopes;
	return { ...entry, auth: { type: "oauth2", clientId, clientSecret, scope } };
}

/** Characters of the file that are quoted. */
const MAX_QUOTE = 30;

/** A whole string or word, or else a single character. */
const TOKEN = /^(?:"[^"\n]*"?|[\w.-]+|.)/;

/**
 * Says what is wrong with the syntax of a file, in the words of its format: JSON is read by the parser of YAML.
 *
 * @param text the whole file
 */
function syntaxProblem(text: string, { code, message, pos: [offset] }: YAMLParseError): string {
	if (!/^\s*[{[]/.test(text)) {
		return `invalid YAML: ${message}`;
	}
	const [token] = TOKEN.exec(text.slice(offset).trimStart()) ?? [];
	if (token === undefined) {
		return "invalid JSON: unexpected end of file";
	}
	const quoted = token.slice(0, MAX_QUOTE);
	return `invalid JSON: ${code === "DUPLICATE_KEY" ? "duplicate member" : "unexpected"} ${quoted}`;
}
