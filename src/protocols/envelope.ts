import { isObject, parseJson } from "../core/text/json.js";
import { MAX_TEXT_LENGTH } from "../core/text/short-text.js";
import { utf8Length } from "../core/text/utf8.js";
import type { TextFont } from "../hardware/hardware.js";
import type { AudioParams } from "../hardware/sound.js";
import type { McpServer } from "../mcp_server/mcp-server.js";
import type { Transport } from "./transport.js";

/** A text message between device and backend: one JSON object with a type. */
export interface Envelope {
	readonly type: string;
	readonly session_id?: unknown;
	readonly [member: string]: unknown;
}

/** Names of the members of MCP messages that are read. Short lists, because XS searches them each time. */
export type WantedNames = Pick<McpServer<unknown>, "commonNames" | "initializeNames" | "widerNames">;

/** Why a session could not start, or ended. Stable: logs, tests and callers may match on it. */
export type ProtocolErrorCode =
	/** Network error: host not found, connection refused or reset, TLS failed. */
	| "connection-failed"
	/** The peer closed the connection. */
	| "connection-closed"
	/** No connection, or no hello, within the timeout. */
	| "hello-timeout"
	/** No sign of life for too long. */
	| "silent"
	/** The backend said goodbye. */
	| "goodbye"
	/** The backend does not read fast enough: the send queue is full. */
	| "send-queue-full";

/** A failure of the transport, not an error of JSON-RPC. */
export class ProtocolError extends Error {
	/** Declared as a field: an assignment would hit the read-only property of `Error` in flash. */
	override readonly name = "ProtocolError";
	readonly code: ProtocolErrorCode;

	constructor(code: ProtocolErrorCode, message: string, options?: { cause?: unknown }) {
		super(message, options);
		this.code = code;
	}
}

/** The type of an envelope that holds MCP. */
export const MCP = "mcp";

/** The members of an envelope that holds MCP. */
export const ENVELOPE_NAMES: readonly string[] = Object.freeze(["session_id", "type", "payload"]);

/** Members that are read in messages other than MCP. XS would keep the names of others until the restart. */
const MESSAGE_NAMES: readonly string[] = Object.freeze(
	[
		"session_id type",
		// hello
		"transport features listen audio_params format sample_rate channels frame_duration udp server port key nonce",
		"max_message_bytes",
		// tts, stt, llm, system, alert, listen
		"state text emotion command status message",
		// notify
		"audio_url subtitles start_ms",
		// glyphs, alone and within other messages
		"glyph_push v bundle bpp glyphs codepoint adv_w box_w box_h ofs_x ofs_y bitmap",
	].flatMap((names) => names.split(" ")),
);

/** The type of a message whose payload may have members of any name. */
const CUSTOM = "custom";

/** Maximum characters of such a payload: more than a screen shows. */
const MAX_PAYLOAD_LENGTH = MAX_TEXT_LENGTH + 1;

/** Names of the members that are read in the start of a message. */
const START_NAMES: readonly string[] = Object.freeze([...ENVELOPE_NAMES, "id"]);

/** The text before a request's id, if it has only simple members, and the id: `{…,"payload":{…,"id":1,` */
const startWithIdPattern = (): RegExp =>
	/^\s*\{(?:\s*"\w+"\s*:\s*(?:"(?:[^"\\]|\\.)*"|null)\s*,)*\s*"payload"\s*:\s*\{(?:\s*"\w+"\s*:\s*"(?:[^"\\]|\\.)*"\s*,)*\s*"id"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+)(?=\s*[,}])/;

/**
 * Reads a message from the wire.
 *
 * @param maxValues limit of the message's values: see {@link parseJson}
 * @param names the wanted members of an MCP message. Default: every message is parsed whole. Otherwise the payload of a
 *   `custom` message is its JSON as text, and undefined if it is not an object
 * @param isFirst whether it is likely to be a session's first MCP message, `initialize`, which is parsed once
 * @throws JsonLimitError if the message nests too deep or has too many values
 * @throws SyntaxError if it is not JSON, not an object, or has no type
 */
export const decodeEnvelope = (text: string, maxValues?: number, names?: WantedNames, isFirst?: boolean): Envelope => {
	if (!names) {
		return checkEnvelope(parseJson(text, maxValues));
	}
	const envelope = parseJson(text, maxValues, isFirst ? names.initializeNames : names.commonNames) as Envelope | null;
	if (envelope?.type === MCP) {
		const wider = names.widerNames(envelope.payload, isFirst);
		return wider ? (parseJson(text, maxValues, wider) as Envelope) : envelope;
	}
	const message = checkEnvelope(parseJson(text, maxValues, MESSAGE_NAMES));
	return message.type === CUSTOM ? { ...message, payload: payloadText(text) } : message;
};

/**
 * Reads the start of a message that is too long to be read as a whole.
 *
 * @returns the envelope with a payload up to the request's id; undefined if no id can be recognised
 */
export const decodeStart = (start: string): Envelope | undefined => {
	const match = startWithIdPattern().exec(start);
	try {
		return match === null ? undefined : checkEnvelope(parseJson(`${match[0]}}}`, undefined, START_NAMES));
	} catch {
		return undefined;
	}
};

/**
 * The JSON of the payload of a valid message. A long one is truncated.
 *
 * @returns undefined if the payload is not an object
 */
const payloadText = (text: string): string | undefined => {
	const match = /"payload"\s*:\s*(?=\{)/.exec(text);
	if (match === null) {
		return undefined;
	}
	const start = match.index + match[0].length;
	const payload = text.slice(start, start + MAX_PAYLOAD_LENGTH);
	let depth = 0;
	let inString = false;
	// No pattern for a whole string: XS allocates memory for each character that it may have to go back to.
	for (const { 0: token, index } of payload.matchAll(/\\.|["{}]/g)) {
		inString = inString !== (token === '"');
		depth += inString ? 0 : token === "{" ? 1 : token === "}" ? -1 : 0;
		if (depth === 0) {
			return payload.slice(0, index + 1);
		}
	}
	return payload;
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

/** Format of the C++ firmware. Some backends need a format, so boards without audio send it by default, too. */
export const FAMILY_AUDIO: AudioParams = Object.freeze({
	format: "opus",
	sample_rate: 16_000,
	channels: 1,
	frame_duration: 60,
});

/**
 * The device's first message. `features` has only booleans: some backends accept nothing else.
 *
 * @param audio the format of the board's codec; null to name none. Default: the family's, without the feature `audio`.
 *   It is copied because XS cannot stringify preloaded objects.
 * @param font the screen's font, if the backend may send glyphs for it
 * @param aec whether the backend is to cancel echoes
 */
export const helloMessage = (
	{ name, version, maxMessageBytes }: Pick<Transport, "name" | "version" | "maxMessageBytes">,
	audio?: AudioParams | null,
	font?: TextFont,
	aec?: boolean,
): string =>
	JSON.stringify({
		type: "hello",
		version,
		features: { mcp: true, aec: aec || undefined, glyph_push: font && true, audio: audio ? true : undefined },
		transport: name,
		audio_params: audio === null ? undefined : { ...(audio ?? FAMILY_AUDIO) },
		text_font: font && { ...font },
		max_message_bytes: maxMessageBytes,
	});

/** A session, from the backend's hello. */
export interface Session {
	/** Empty if the backend sent none. */
	readonly id: string;
	/** The backend's hello as received: `audio_params`, `udp` and other members. */
	readonly hello: Readonly<Record<string, unknown>>;
}
