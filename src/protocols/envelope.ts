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
 * Reads a message from the wire.
 *
 * @throws SyntaxError that says what is wrong: no JSON, no object, no type
 */
export function decodeEnvelope(text: string): Envelope {
	const message = parseJson(text);
	if (!isObject(message)) {
		throw new SyntaxError("expected an object");
	}
	if (typeof message.type !== "string") {
		throw new SyntaxError("type: expected a string");
	}
	return message as Envelope;
}

/** The text before and after the payload of an MCP message. */
export function mcpWrapper(sessionId: string): { start: string; end: string; bytes: number } {
	const start = `{"session_id":${JSON.stringify(sessionId)},"type":"mcp","payload":`;
	return { start, end: "}", bytes: utf8Length(start) + 1 };
}

/** The message that ends a session from either side; without an id, whatever session there is. */
export function goodbyeMessage(sessionId?: string): string {
	return JSON.stringify({ session_id: sessionId, type: "goodbye" });
}
