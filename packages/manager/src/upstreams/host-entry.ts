import {
	evaluate,
	type IdentifierNode,
	iterator,
	type ObjectNode,
	parse,
	type StringNode,
	type ValueNode,
} from "@humanwhocodes/momoa";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { digest, portable, slug } from "../core/names.js";
import { present } from "../core/offers.js";
import { withoutNulls } from "../core/received.js";
import { HOST_SERVER, MAX_TIMEOUT } from "./server-config.js";

// Servers' entries as hosts of MCP clients, and READMEs of servers, write them.

type Members = Readonly<Record<string, unknown>>;

/** Members that change nothing of what a server may do here. */
const WITHOUT_EFFECT = /^(?:[$_#/]|x-)|^(?:icon|icons|gallery|version|dev|comments?|notes?|metadata)$/;

/** Transports by what hosts call them. "": as the rest of the entry says. */
const TRANSPORTS: Readonly<Record<string, string>> = {
	stdio: "stdio",
	local: "",
	remote: "",
	http: "http",
	"streamable-http": "http",
	streamable_http: "http",
	streamablehttp: "http",
	sse: "sse",
	ws: "websocket",
	websocket: "websocket",
};

/** Hosts write time limits in seconds, too: smaller values are not plausible as milliseconds. */
const MIN_MILLISECONDS = 1_000;

/** An entry without null, and with text where programs take numbers and booleans for text. */
export function plainEntry(given: unknown): unknown {
	if (!isObject(given)) {
		return given;
	}
	const entry = withoutNulls(given);
	const { args, env, headers } = entry;
	return {
		...entry,
		...(Array.isArray(args) && { args: args.map(textOf) }),
		...(isObject(env) && { env: texts(env) }),
		...(isObject(headers) && { headers: texts(headers) }),
	};
}

/** A host's entry in our form, and the names of its members that are not known. */
export function hostEntry(given: unknown): { readonly entry: unknown; readonly unknown: readonly string[] } {
	if (!isObject(given)) {
		return { entry: given, unknown: [] };
	}
	// Other names: Gemini CLI, Windsurf, opencode, Codex, Roo Code.
	const { httpUrl, serverUrl, environment, alwaysAllow, type, disabled, timeout, command, args, auth, ...named } =
		withoutNulls(given);
	const { tools, includeTools, enabledTools, enabled_tools, excludeTools, disabledTools, disabled_tools, ...rest } =
		named;
	const allow = includeTools ?? enabledTools ?? enabled_tools;
	const deny = excludeTools ?? disabledTools ?? disabled_tools;
	const kind = typeof type === "string" ? TRANSPORTS[type.toLowerCase()] : undefined;
	const [program, ...words] = Array.isArray(command) ? command : [command];
	const entry = {
		url: httpUrl ?? serverUrl,
		env: environment,
		autoApprove: alwaysAllow,
		...present({
			command: program,
			args: words.length > 0 ? [...words, ...(Array.isArray(args) ? args : [])] : args,
			transport: kind || undefined,
			enabled: typeof disabled === "boolean" ? !disabled : disabled,
			timeout: typeof timeout === "number" ? milliseconds(timeout) : timeout,
			tools: filters(tools, allow, deny),
			auth: ourAuth(auth),
		}),
		...rest,
		...(disabled === true && { enabled: false }),
	};
	const isKnown = (name: string): boolean => name in HOST_SERVER.shape || WITHOUT_EFFECT.test(name);
	const unknown = Object.keys(rest).filter((name) => !isKnown(name));
	return {
		entry: plainEntry(present(entry)),
		unknown: type !== undefined && kind === undefined ? [...unknown, "type"] : unknown,
	};
}

/** The id of a server by its name, which may be in any script. */
export function hostId(name: string): string {
	if (/^[\x20-\x7E]+$/.test(name)) {
		return portable(name, "-");
	}
	const hash = digest(name).slice(0, HASH_DIGITS);
	return `${slug(name, "-", MAX_READABLE) || "server"}-${hash}`;
}

/** Hexadecimal digits that make ids differ, and characters before them. */
const HASH_DIGITS = 6;
const MAX_READABLE = 24;

function textOf(value: unknown): unknown {
	return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}

function texts(members: Members): Members {
	return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, textOf(value)]));
}

function milliseconds(timeout: number): number {
	const time = timeout > 0 && timeout < MIN_MILLISECONDS ? timeout * 1_000 : timeout;
	return time === 0 ? MAX_TIMEOUT : Math.min(time, MAX_TIMEOUT);
}

/** The tools that may be called: ours, or lists of their names. */
function filters(tools: unknown, allow: unknown, deny: unknown): unknown {
	if (tools !== undefined && !Array.isArray(tools)) {
		return isObject(tools) ? present({ allow, deny, ...tools }) : tools;
	}
	const named = present({ allow: tools ?? allow, deny });
	return Object.keys(named).length === 0 ? undefined : named;
}

/** Cursor has CLIENT_ID, CLIENT_SECRET and scopes. */
function ourAuth(auth: unknown): unknown {
	if (!isObject(auth) || auth.CLIENT_ID === undefined) {
		return auth;
	}
	const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, scopes } = auth;
	return { type: "oauth2", clientId, clientSecret, scope: Array.isArray(scopes) ? scopes.join(" ") : scopes };
}

/** Names of members and indices of items, from the top of a file. */
export type Path = readonly (string | number)[];

/** The value that a file has, and where its parts are. */
interface ParsedFile {
	readonly content: unknown;
	/** Returns the line of a part, and its value if that is a scalar. Undefined if the part is not in the file. */
	readonly find: (path: Path) => { readonly line: number; readonly value: unknown } | undefined;
}

function syntaxError(message: string, line: number): SyntaxError {
	return Object.assign(new SyntaxError(message), { line });
}

/**
 * Parses a file as JSON with comments if it starts like that, and as YAML otherwise: a YAML parser would read a JSON comment as
 * part of a member's name.
 *
 * @throws SyntaxError with the line
 */
export function parseFile(text: string, file: string): ParsedFile {
	const isJson = !/\.ya?ml$/i.test(file) && /^\s*(?:[{[]|\/[/*])/.test(text);
	return isJson ? parseJson(text.replace(/^\uFEFF/, " ")) : parseYaml(text);
}

function parseJson(text: string): ParsedFile {
	const { body } = parseJsonText(text);
	for (const { node } of iterator(body)) {
		const names = new Set<string>();
		for (const { name, loc } of node.type === "Object" ? (node as ObjectNode).members : []) {
			const member = nameOf(name);
			if (names.has(member)) {
				throw syntaxError(`invalid JSON: duplicate member ${JSON.stringify(member)}`, loc.start.line);
			}
			names.add(member);
		}
	}
	const step = (node: ValueNode | undefined, part: Path[number]): ValueNode | undefined =>
		node?.type === "Object"
			? node.members.find(({ name }) => nameOf(name) === `${part}`)?.value
			: node?.type === "Array"
				? node.elements[Number(part)]?.value
				: undefined;
	return {
		content: evaluate(body),
		find: (path) => {
			const node = path.reduce(step, body);
			return node && { line: node.loc.start.line, value: "value" in node ? node.value : undefined };
		},
	};
}

function parseJsonText(text: string) {
	try {
		return parse(text, { mode: "jsonc", allowTrailingCommas: true });
	} catch (error) {
		const { line = 1, offset = 0, message } = error as { line?: number; offset?: number; message: string };
		if (message.includes("end of input")) {
			throw syntaxError("invalid JSON: unexpected end of file", text.split("\n").length);
		}
		const [token = ""] = TOKEN.exec(text.slice(offset)) ?? [];
		throw syntaxError(`invalid JSON: unexpected ${token.slice(0, MAX_QUOTE)}`, line);
	}
}

const MAX_QUOTE = 30;

/** A whole string or word, or else a single character. */
const TOKEN = /^(?:"[^"\n]*"?|[\w.-]+|.)/;

function nameOf(name: StringNode | IdentifierNode): string {
	return name.type === "String" ? name.value : name.name;
}

function parseYaml(text: string): ParsedFile {
	const lineCounter = new LineCounter();
	const document = parseDocument(text, { lineCounter, prettyErrors: false });
	const [error] = document.errors;
	if (error !== undefined) {
		throw syntaxError(`invalid YAML: ${error.message}`, lineCounter.linePos(error.pos[0]).line);
	}
	return {
		content: document.toJS({ maxAliasCount: 100 }),
		find: (path) => {
			const node = document.getIn(path, true);
			return isNode(node) && node.range
				? { line: lineCounter.linePos(node.range[0]).line, value: isScalar(node) ? node.value : undefined }
				: undefined;
		},
	};
}
