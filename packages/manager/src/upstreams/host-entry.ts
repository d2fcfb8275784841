import { parse } from "@humanwhocodes/momoa";
import { isObject } from "xs-mcp-firmware/core/text/json";
import { isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { digest, portable, slug } from "../core/names.js";
import { present } from "../core/offers.js";
import { withoutNulls } from "../core/received.js";
import { HOST_SERVER, MAX_TIMEOUT } from "./server-config.js";

// Entries of servers in the forms that hosts of MCP clients and READMEs of servers use.

/** Members without effect here, which are ignored silently. */
const WITHOUT_EFFECT = /^(?:[$_#/]|x-)|^(?:icon|icons|gallery|version|dev|comments?|notes?|metadata)$/;

/** Transports by their names in hosts. "": derived from the rest of the entry. */
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

/** Returns an entry without null members, and with numbers and booleans in args, env and headers as text. */
export function plainEntry(given: unknown): unknown {
	if (!isObject(given)) {
		return given;
	}
	const { args, env, headers, ...entry } = withoutNulls(given);
	return { ...entry, ...present({ args: asTexts(args), env: asTexts(env), headers: asTexts(headers) }) };
}

/** Converts a host's entry to our form. Also returns the names of its unknown members. */
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
		command: program,
		args: words.length > 0 ? [...words, ...(Array.isArray(args) ? args : [])] : args,
		transport: kind || undefined,
		enabled: typeof disabled === "boolean" ? !disabled : disabled,
		timeout: typeof timeout === "number" ? milliseconds(timeout) : timeout,
		tools: filters(tools, allow, deny),
		auth: ourAuth(auth),
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

/** Hexadecimal digits of the hash that makes an id unique, and characters before them. */
const HASH_DIGITS = 6;
const MAX_READABLE = 24;

/** Converts the numbers and booleans in a list or an object to text. Other values are returned unchanged. */
function asTexts(values: unknown): unknown {
	const asText = (value: unknown): unknown => (/^(?:number|boolean)$/.test(typeof value) ? String(value) : value);
	if (Array.isArray(values)) {
		return values.map(asText);
	}
	return isObject(values)
		? Object.fromEntries(Object.entries(values).map(([name, value]) => [name, asText(value)]))
		: values;
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

/**
 * Parses a file as JSON with comments if it starts like that, and as YAML otherwise: a YAML parser would read a JSON comment as
 * part of a member's name.
 *
 * @throws SyntaxError with the line
 */
export function parseFile(text: string, file: string) {
	const isJson = !/\.ya?ml$/i.test(file) && /^\s*(?:[{[]|\/[/*])/.test(text);
	const lineCounter = new LineCounter();
	const document = parseDocument(isJson ? withoutComments(text) : text, { lineCounter, prettyErrors: false });
	const [error] = document.errors;
	if (error !== undefined) {
		const [offset] = error.pos;
		const problem = isJson
			? `invalid JSON: duplicate member ${tokenAt(text, offset)}`
			: `invalid YAML: ${error.message}`;
		throw syntaxError(problem, lineCounter.linePos(offset).line);
	}
	return {
		content: document.toJS({ maxAliasCount: 100 }) as unknown,
		/** Returns the line of a part, and its value if that is a scalar. Undefined if the part is not in the file. */
		find: (path: Path) => {
			const node = document.getIn(path, true);
			return isNode(node) && node.range
				? { line: lineCounter.linePos(node.range[0]).line, value: isScalar(node) ? node.value : undefined }
				: undefined;
		},
	};
}

/**
 * Checks JSON, and returns it with spaces in place of its comments: then it is YAML, too, unless it has a member twice.
 *
 * @throws SyntaxError with the line
 */
function withoutComments(text: string): string {
	try {
		let json = text.replace(/^\uFEFF/, " ");
		const { tokens = [] } = parse(json, { mode: "jsonc", allowTrailingCommas: true, tokens: true });
		for (const { loc } of tokens.filter(({ type }) => type.endsWith("Comment"))) {
			const [start, end] = [loc.start.offset, loc.end.offset];
			json = json.slice(0, start) + json.slice(start, end).replace(/\S/g, " ") + json.slice(end);
		}
		return json;
	} catch (error) {
		const { line = 1, offset = 0, message } = error as { line?: number; offset?: number; message: string };
		throw message.includes("end of input")
			? syntaxError("invalid JSON: unexpected end of file", text.split("\n").length)
			: syntaxError(`invalid JSON: unexpected ${tokenAt(text, offset)}`, line);
	}
}

function syntaxError(message: string, line: number): SyntaxError {
	return Object.assign(new SyntaxError(message), { line });
}

const MAX_QUOTE = 30;

/** A whole string or word, or else a single character. */
const TOKEN = /^(?:"[^"\n]*"?|[\w.-]+|.)/;

function tokenAt(text: string, offset: number): string {
	return (TOKEN.exec(text.slice(offset))?.[0] ?? "").slice(0, MAX_QUOTE);
}
