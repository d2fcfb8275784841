import { parseJson } from "../core/text/json.js";
import { ErrorCode, type Revision, RpcError, STRUCTURED_SINCE } from "./json-rpc.js";

// Looked up once: XS searches the global object, and these, at each use. And `concat` copies once, where a template copies for
// each of its pieces.
const { isArray } = Array;
const { isFinite: isFiniteNumber } = Number;
const { stringify } = JSON;

const TEXT_ITEM = '{"type":"text","text":';
const CONTENT = '{"content":[';
const CONTENT_END = '],"isError":false';
const FAILURE_END = '],"isError":true}';
const STRUCTURED = ',"structuredContent":';

/** JSON of a result with one text item: before the text, after it, and after it at the end of the result. */
const TEXT = CONTENT + TEXT_ITEM;
const TEXT_END = `}${CONTENT_END}`;
const LAST_TEXT_END = `${TEXT_END}}`;

/** The `result` of `tools/call` as JSON, in three pieces, which saves one copy of a picture. */
export interface CallResult {
	readonly before: string;
	readonly content: string;
	readonly after: string;
}

const TRUE_RESULT: CallResult = Object.freeze({ before: TEXT, content: '"true"', after: LAST_TEXT_END });

/** One item of a tool result's `content` as JSON (MCP 2025-11-25, server/tools#tool-result). */
export class Content {
	private readonly json: string;
	private readonly since: Revision;
	private readonly fallback: string;
	/** The text of a text item. */
	readonly text: string | undefined;

	/**
	 * @param since the first revision with this type of item
	 * @param fallback the text that older clients get instead
	 * @param text the item's text, if it is text
	 */
	constructor(json: string, since: Revision = "2024-11-05", fallback = "", text?: string) {
		this.text = text;
		this.json = json;
		this.since = since;
		this.fallback = fallback;
	}

	/** Returns the item as JSON; its fallback text if the revision lacks this type. */
	toJsonFor(revision: Revision): string {
		return revision >= this.since ? this.json : textItem(this.fallback);
	}
}

class Done {
	readonly state: object;

	constructor(state: object) {
		this.state = state;
	}
}

/**
 * Result of a tool that has set something: the new state. Until 2025-03-26 it is the text "true", as backends of the family
 * expect it.
 *
 * @param state JSON; a member that is undefined is left out
 * @example
 * speaker.volume = volume;
 * return done({ volume: speaker.volume });
 */
export const done = (state: object): Done => new Done(state);

/** Result of a tool, not a promise. It becomes text and `structuredContent`: an object, else `{result: …}`. */
export type ToolResult =
	| boolean
	| number
	| string
	| Content
	| readonly Content[]
	| (object & { readonly then?: never });

/** A link to something that the client can fetch or read (MCP 2025-11-25, server/tools#resource-links). */
export interface ResourceLink {
	readonly uri: string;
	readonly name: string;
	readonly title?: string;
	readonly description?: string;
	readonly mimeType?: string;
}

/**
 * Text for the language model. A tool that returns one string needs no `text()`: it is for several items.
 *
 * @example
 * return [text("The door from the camera:"), image(base64, "image/jpeg")];
 */
export const text = (value: string): Content => new Content(textItem(value), undefined, undefined, value);

/**
 * A picture.
 *
 * @param base64 the picture's bytes in base64
 * @example
 * return image(base64, "image/jpeg");
 */
export const image = (base64: string, mimeType: string): Content =>
	new Content(JSON.stringify({ type: "image", data: base64, mimeType }));

/**
 * A sound. A client of 2024-11-05, which does not know sounds, gets text that names the type.
 *
 * @param base64 the sound's bytes in base64
 * @example
 * return audio(base64, "audio/wav");
 */
export const audio = (base64: string, mimeType: string): Content =>
	new Content(JSON.stringify({ type: "audio", data: base64, mimeType }), "2025-03-26", `(${mimeType} sound)`);

/**
 * A link. A client of a revision before 2025-06-18, which does not know links, gets name and address as text.
 *
 * @example
 * return resourceLink({ uri: "http://192.168.1.20/log.txt", name: "log", mimeType: "text/plain" });
 */
export const resourceLink = (link: ResourceLink): Content =>
	new Content(JSON.stringify({ type: "resource_link", ...link }), "2025-06-18", `${link.name}: ${link.uri}`);

/**
 * The `result` of `tools/call`.
 *
 * @throws RpcError internal error, if the value is not JSON: undefined, a function, a circular object
 */
export const callResult = (result: ToolResult, revision: Revision): CallResult => {
	const isDone = result instanceof Done;
	if ((result === true || isDone) && revision < STRUCTURED_SINCE) {
		return TRUE_RESULT;
	}
	const value = isDone ? result.state : result;
	if (typeof value !== "object" || value === null) {
		return scalarResult(value, revision);
	}
	if (value instanceof Content) {
		return contentResult([value], revision);
	}
	if (isArray(value) && value.length > 0 && value.every((item) => item instanceof Content)) {
		return contentResult(value, revision);
	}
	let json: string | undefined;
	try {
		json = stringify(value);
	} catch {
		// Handled below, like an object whose `toJSON` returns undefined.
	}
	if (json === undefined) {
		throw notExpressible("an object that is not JSON");
	}
	if (revision < STRUCTURED_SINCE) {
		return { before: TEXT, content: stringify(json), after: LAST_TEXT_END };
	}
	// An object with `toJSON` may become another JSON value.
	return textResult(stringify(json), json.startsWith("{") ? STRUCTURED.concat(json) : structuredValue(json));
};

/** The result of a failed tool: the error message, for the language model. */
export const failureResult = (message: string): CallResult => ({
	before: CONTENT,
	content: textItem(message),
	after: FAILURE_END,
});

/** @throws RpcError if the value is not a boolean, number or string */
const scalarResult = (value: unknown, revision: Revision): CallResult => {
	if (typeof value === "boolean" || isFiniteNumber(value)) {
		const json = String(value);
		return textResult(`"${json}"`, revision >= STRUCTURED_SINCE ? structuredValue(json) : "");
	}
	if (typeof value === "string") {
		return textResult(stringify(value), structuredText(value, revision));
	}
	throw notExpressible(typeof value === "number" ? String(value) : typeof value);
};

/** @param structured the member `structuredContent` with its comma, or "" */
const textResult = (textJson: string, structured: string): CallResult => ({
	before: TEXT,
	content: textJson,
	after: TEXT_END.concat(structured, "}"),
});

const contentResult = (items: readonly Content[], revision: Revision): CallResult => {
	const only = items.length === 1 ? items[0]?.text : undefined;
	const structured = only === undefined ? "" : structuredText(only, revision);
	return {
		before: CONTENT,
		content: items.map((item) => item.toJsonFor(revision)).join(","),
		after: CONTENT_END.concat(structured, "}"),
	};
};

/** Makes the parser skip all members: XS would keep their names until the restart, and the text may be a server's. */
const NO_NAMES: readonly string[] = Object.freeze([]);

/** Maximum number of values in a parsed list: it may be a server's, and each takes one to three slots of a chip's heap. */
const MAX_VALUES = 512;

/** The first characters of JSON that is not an object. */
const JSON_STARTS = '[-0123456789"tfn';

/**
 * The member `structuredContent` for a single text. Without it some clients parse the text as JSON, and fail if that is
 * not an object.
 *
 * @returns "" if the text is not JSON, is a list of too many values, or is an object
 */
const structuredText = (value: string, revision: Revision): string => {
	const json = value.trim();
	if (revision < STRUCTURED_SINCE || !JSON_STARTS.includes(json.charAt(0))) {
		return "";
	}
	try {
		json.startsWith("[") ? parseJson(json, MAX_VALUES, NO_NAMES) : JSON.parse(json);
		return structuredValue(json);
	} catch {
		return "";
	}
};

/** The member `structuredContent` for JSON that is not an object. */
const structuredValue = (json: string): string => STRUCTURED.concat('{"result":', json, "}");

const notExpressible = (what: string): RpcError =>
	new RpcError(
		ErrorCode.internalError,
		`Internal error: the tool returned ${what}, not a boolean, number, string, object or content`,
	);

const textItem = (value: string): string => TEXT_ITEM.concat(stringify(value), "}");
