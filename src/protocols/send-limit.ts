import type { Sendable } from "../text/pieced-text.js";
import { utf8Length } from "../text/utf8.js";
import type { ProtocolEvents } from "./protocol-options.js";

/** The smallest useful limit: a lower one is an error of the backend. */
const MIN_LIMIT = 512;

/** The most bytes that a UTF-16 unit takes as UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/**
 * Bytes that a message to the backend may have.
 *
 * @param announced `max_message_bytes` of the backend's hello
 * @param limit that of the transport, if the backend's is not usable
 */
export const sendLimit = (announced: unknown, limit: number): number =>
	typeof announced === "number" && announced >= MIN_LIMIT ? announced : limit;

/** Whether a message is surely short enough. It may be although this is false: to count its bytes takes long. */
export const isSurelyWithin = (text: Sendable, limit: number): boolean =>
	(typeof text === "string" ? text.length * MAX_BYTES_PER_UNIT : text.bytes) <= limit;

/**
 * The message if it is within the limit, else its replacement: a link that breaks at a long message would take the session with it.
 *
 * @returns undefined if it can only be dropped
 */
export const withinLimit = (text: Sendable, limit: number, mcp: ProtocolEvents["mcp"]): Sendable | undefined => {
	const bytes = typeof text === "string" ? utf8Length(text) : text.bytes;
	return bytes <= limit ? text : mcp.shorten?.(text, bytes, limit);
};
