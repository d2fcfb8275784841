import { deepFreeze } from "../text/deep-freeze.js";
import { isObject } from "../text/is-object.js";
import { parseJson } from "../text/parse-json.js";
import { utf8Length } from "../text/utf8.js";

/** A text message between device and backend: one JSON object with a type. */
export interface Envelope {
	readonly type: string;
	readonly session_id?: unknown;
	readonly [member: string]: unknown;
}

/**
 * Names of the wanted members of MCP messages, envelope included. The list for common messages is short, because XS
 * searches the whole list for each message.
 */
export interface WantedNames {
	readonly commonNames: readonly string[];
	/** For the message that a session begins with. */
	readonly initializeNames: readonly string[];
	/**
	 * The names to parse a message with again, if the first ones lack some of its wanted members.
	 *
	 * @param isFirst whether the first ones were `initializeNames`
	 */
	widerNames(payload: unknown, isFirst?: boolean): readonly string[] | undefined;
}

/** The type of an envelope that holds MCP. */
export const MCP = "mcp";

/** The members of an envelope that holds MCP. */
export const ENVELOPE_NAMES: readonly string[] = deepFreeze(["session_id", "type", "payload"]);

/** The text before a request's id, if it has only simple members, and the id: `{…,"payload":{…,"id":1,` */
const startWithIdPattern = (): RegExp =>
	/^\s*\{(?:\s*"\w+"\s*:\s*(?:"(?:[^"\\]|\\.)*"|null)\s*,)*\s*"payload"\s*:\s*\{(?:\s*"\w+"\s*:\s*"(?:[^"\\]|\\.)*"\s*,)*\s*"id"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+)(?=\s*[,}])/;

/**
 * Reads a message from the wire.
 *
 * @param maxValues how much the message may hold: see {@link parseJson}
 * @param names the wanted members of an MCP message; other messages are parsed whole. Default: all
 * @param isFirst whether it is likely to be a session's first MCP message, `initialize`, which is parsed once
 * @throws JsonLimitError if the message nests too deep or has too many values
 * @throws SyntaxError if it is not JSON, not an object, or has no type
 */
export const decodeEnvelope = (text: string, maxValues?: number, names?: WantedNames, isFirst?: boolean): Envelope => {
	if (names === undefined) {
		return checkEnvelope(parseJson(text, maxValues));
	}
	const envelope = parseJson(text, maxValues, isFirst ? names.initializeNames : names.commonNames) as Envelope | null;
	if (envelope?.type !== MCP) {
		return checkEnvelope(parseJson(text, maxValues));
	}
	const wider = names.widerNames(envelope.payload, isFirst);
	return wider === undefined ? envelope : (parseJson(text, maxValues, wider) as Envelope);
};

/**
 * Reads the start of a message that is too long to be read as a whole.
 *
 * @returns the envelope with a payload up to the request's id; undefined if no id can be recognised
 */
export const decodeStart = (start: string): Envelope | undefined => {
	const match = startWithIdPattern().exec(start);
	try {
		return match === null ? undefined : decodeEnvelope(`${match[0]}}}`);
	} catch {
		return undefined;
	}
};

/** Only an object can have a type. */
const checkEnvelope = (message: unknown): Envelope => {
	const envelope = message as Envelope | null;
	if (typeof envelope?.type !== "string") {
		throw new SyntaxError(isObject(message) ? "type: expected a string" : "expected an object");
	}
	return envelope;
};

/** The text before and after the payload of an MCP message. */
export const mcpWrapper = (sessionId: string): { start: string; end: string; bytes: number } => {
	const start = `{"session_id":${JSON.stringify(sessionId)},"type":"mcp","payload":`;
	return { start, end: "}", bytes: utf8Length(start) + 1 };
};

/** The message that ends a session from either side; without an id, the current session. */
export const goodbyeMessage = (sessionId?: string): string =>
	JSON.stringify({ session_id: sessionId, type: "goodbye" });

/** A message of the device that is not MCP: `{"session_id":…,"type":"abort"}`. */
export const deviceMessage = (sessionId: string, type: string, members: object = {}): string =>
	JSON.stringify({ session_id: sessionId, type, ...members });
