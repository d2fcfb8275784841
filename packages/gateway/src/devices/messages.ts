import { isObject } from "../firmware.js";

/** A text message between device and gateway: one JSON object with a type. MCP is the `payload` of the type "mcp". */
export interface DeviceMessage {
	readonly type: string;
	readonly session_id?: unknown;
	readonly [member: string]: unknown;
}

/**
 * Reads a device's message.
 *
 * @throws SyntaxError if it is not JSON, not an object, no type
 */
export function parseMessage(text: string): DeviceMessage {
	const message: unknown = JSON.parse(withoutMarks(text));
	if (!isObject(message)) {
		throw new SyntaxError("expected an object");
	}
	if (typeof message.type !== "string") {
		throw new SyntaxError("type: expected a string");
	}
	return message as DeviceMessage;
}

/** Removes a byte order mark, and the ends of strings in C: firmware sends them with its text. */
function withoutMarks(text: string): string {
	let end = text.length;
	while (text.charCodeAt(end - 1) === 0) {
		end -= 1;
	}
	return text.slice(text.charCodeAt(0) === 0xfeff ? 1 : 0, end);
}
