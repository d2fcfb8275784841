import { ErrorCode, RpcError } from "./json-rpc.js";
import { hasStructuredContent, type Revision } from "./revision.js";

// Looked up once: XS searches the global object, and these, at each use. And `concat` copies once, where a template copies for
// each of its pieces.
const { isArray } = Array;
const { isFinite: isFiniteNumber } = Number;
const { stringify } = JSON;

const TEXT_ITEM = '{"type":"text","text":';
/** A result of one item up to its text, and what follows that. */
const TEXT_RESULT = '{"content":[{"type":"text","text":';
const ITEM_END = '}],"isError":false';
/** What most tools that set something return. */
const TRUE_RESULT = `${TEXT_RESULT}"true"${ITEM_END}}`;
const STRUCTURED = ',"structuredContent":';

/**
 * One item of a tool result's `content`, as JSON ready to send:
 * https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result
 */
export class Content {
	readonly #json: string;
	readonly #since: Revision;
	readonly #fallback: string;
	/** Of a text item. */
	readonly text: string | undefined;

	/**
	 * @param since the first revision with this type of item
	 * @param fallback the text that older clients get instead
	 * @param text the item's text, if it is text
	 */
	constructor(json: string, since: Revision = "2024-11-05", fallback = "", text?: string) {
		this.text = text;
		this.#json = json;
		this.#since = since;
		this.#fallback = fallback;
	}

	/** The item as clients of this revision read it: the fallback where they do not know its type. */
	toJsonFor(revision: Revision): string {
		return revision >= this.#since ? this.#json : textItem(this.#fallback);
	}
}

/**
 * What a tool may return. An object becomes text for every client, and `structuredContent` where the revision has it;
 * any other JSON value becomes `{result: …}` there. A promise is excluded, because it would be sent as `{}`.
 */
export type ToolResult =
	| boolean
	| number
	| string
	| Content
	| readonly Content[]
	| (object & { readonly then?: never });

/**
 * A link to something that the client can fetch or read:
 * https://modelcontextprotocol.io/specification/2025-11-25/server/tools#resource-links
 */
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
export function text(value: string): Content {
	return new Content(textItem(value), undefined, undefined, value);
}

/**
 * A picture.
 *
 * @param base64 the picture's bytes in base64
 * @example
 * return image(base64, "image/jpeg");
 */
export function image(base64: string, mimeType: string): Content {
	return new Content(JSON.stringify({ type: "image", data: base64, mimeType }));
}

/**
 * A sound. A client of 2024-11-05, which does not know sounds, gets text that names the type.
 *
 * @param base64 the sound's bytes in base64
 * @example
 * return audio(base64, "audio/wav");
 */
export function audio(base64: string, mimeType: string): Content {
	return new Content(JSON.stringify({ type: "audio", data: base64, mimeType }), "2025-03-26", `(${mimeType} sound)`);
}

/**
 * A link. A client of a revision before 2025-06-18, which does not know links, gets name and address as text.
 *
 * @example
 * return resourceLink({ uri: "http://192.168.1.20/log.txt", name: "log", mimeType: "text/plain" });
 */
export function resourceLink(link: ResourceLink): Content {
	return new Content(JSON.stringify({ type: "resource_link", ...link }), "2025-06-18", `${link.name}: ${link.uri}`);
}

/**
 * The `result` of `tools/call`, as JSON.
 *
 * @throws RpcError internal error, if the value is not JSON: undefined, a function, a circular object
 */
export function callResult(value: ToolResult, revision: Revision): string {
	if (value === true && !hasStructuredContent(revision)) {
		return TRUE_RESULT;
	}
	if (typeof value === "boolean" || isFiniteNumber(value)) {
		// `concat` makes text of it.
		const json = value as unknown as string;
		const structured = hasStructuredContent(revision) ? structuredValue(json) : "";
		return TEXT_RESULT.concat('"', json, '"', ITEM_END, structured, "}");
	}
	if (typeof value === "string") {
		return TEXT_RESULT.concat(stringify(value), ITEM_END, structuredText(value, revision), "}");
	}
	if (value instanceof Content) {
		return contentResult([value], revision);
	}
	if (typeof value === "object" && value !== null) {
		return objectResult(value, revision);
	}
	throw notExpressible(typeof value === "number" ? String(value) : typeof value);
}

/** The result of a failed tool: the error message, for the language model. */
export function failureResult(message: string): string {
	return `{"content":[${textItem(message)}],"isError":true}`;
}

function objectResult(value: object, revision: Revision): string {
	if (isArray(value) && value.length > 0 && value.every((item) => item instanceof Content)) {
		return contentResult(value, revision);
	}
	const json = toJson(value);
	if (isArray(value)) {
		const structured = hasStructuredContent(revision) ? structuredValue(json) : "";
		return TEXT_RESULT.concat(stringify(json), ITEM_END, structured, "}");
	}
	const structured = hasStructuredContent(revision) ? STRUCTURED.concat(json) : "";
	return TEXT_RESULT.concat(stringify(json), ITEM_END, structured, "}");
}

function contentResult(items: readonly Content[], revision: Revision): string {
	const only = items.length === 1 ? items[0]?.text : undefined;
	const structured = only === undefined ? "" : structuredText(only, revision);
	return `{"content":[${items.map((item) => item.toJsonFor(revision)).join(",")}],"isError":false${structured}}`;
}

/** The first characters of JSON that is not an object. */
const JSON_STARTS = '[-0123456789"tfn';

/**
 * The member `structuredContent` for a single text. Without it some clients parse the text as JSON, and fail if that is
 * not an object.
 *
 * @returns "" if the text is not JSON, or is an object
 */
function structuredText(value: string, revision: Revision): string {
	const json = value.trim();
	if (!hasStructuredContent(revision) || !JSON_STARTS.includes(json.charAt(0))) {
		return "";
	}
	try {
		JSON.parse(json);
		return structuredValue(json);
	} catch {
		return "";
	}
}

/** The member `structuredContent` for JSON that is no object. */
function structuredValue(json: string): string {
	return STRUCTURED.concat('{"result":', json, "}");
}

function toJson(value: object): string {
	try {
		return stringify(value);
	} catch {
		throw notExpressible("an object that is not JSON");
	}
}

function notExpressible(what: string): RpcError {
	return new RpcError(
		ErrorCode.internalError,
		`Internal error: the tool returned ${what}, not a boolean, number, string, object or content`,
	);
}

function textItem(value: string): string {
	return TEXT_ITEM.concat(stringify(value), "}");
}
