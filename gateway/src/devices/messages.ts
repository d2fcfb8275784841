import { isObject } from "../firmware.js";

/** A text message between device and gateway: one JSON object with a type. MCP is the `payload` of the type "mcp". */
export interface DeviceMessage {
	readonly type: string;
	readonly session_id?: unknown;
	readonly [member: string]: unknown;
}

/** Levels of arrays and objects in a message. Deeper values could not be serialized again. */
const MAX_DEPTH = 100;

/**
 * Reads a device's message.
 *
 * @throws SyntaxError if it is not JSON, not an object, no type, nested too deep
 */
export function parseMessage(text: string): DeviceMessage {
	if (isNestedDeeper(text, MAX_DEPTH)) {
		throw new SyntaxError(`nested deeper than ${MAX_DEPTH} levels`);
	}
	const message: unknown = JSON.parse(text);
	if (!isObject(message)) {
		throw new SyntaxError("expected an object");
	}
	if (typeof message.type !== "string") {
		throw new SyntaxError("type: expected a string");
	}
	return message as DeviceMessage;
}

/** Strings, which may hold brackets, and the brackets outside them. A string without an end goes to the end of the text. */
const STRING_OR_BRACKET = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|[[{\]}]/gs;

/** Whether arrays and objects nest deeper in a JSON text than that many levels. */
export function isNestedDeeper(text: string, levels: number): boolean {
	if (countOpening(text) <= levels) {
		return false;
	}
	let depth = 0;
	for (const [bracket] of text.matchAll(STRING_OR_BRACKET)) {
		if (bracket === "[" || bracket === "{") {
			depth += 1;
			if (depth > levels) {
				return true;
			}
		} else if (bracket === "]" || bracket === "}") {
			depth -= 1;
		}
	}
	return false;
}

/** How often arrays and objects open in a JSON text; more if strings hold brackets. */
function countOpening(text: string): number {
	let count = 0;
	for (let at = 0; at < text.length; at += 1) {
		const code = text.charCodeAt(at);
		// "[" and "{" differ in one bit.
		count += (code & ~0x20) === 0x5b ? 1 : 0;
	}
	return count;
}
