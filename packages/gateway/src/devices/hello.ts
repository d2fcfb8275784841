import { isObject } from "../firmware.js";
import { type GlyphsFor, glyphsFor } from "./glyph-file.js";

/** The format of what the gateway says, as servers of the family have it. */
export const SPOKEN_AUDIO = { format: "opus", sample_rate: 24_000, channels: 1, frame_duration: 60 } as const;

/** A device's first message cannot be accepted. */
class HelloRejected extends Error {}

/** A device's description of itself in its hello. */
export interface DeviceHello {
	/** Its transport; absent for some devices of the family. */
	readonly transport?: unknown;
	/** Whether it plays packets of Opus. */
	readonly playsOpus?: boolean;
	/** Whether a `listen` message starts and stops its microphone: firmware of this project with a codec. */
	readonly listensOnRequest?: boolean;
	/** Bytes that a message to the device may have, envelope included. */
	readonly maxMessageBytes: number;
	/** The glyphs that its screen lacks for a text; absent if it cannot show them, or if the gateway does not have its font. */
	readonly glyphsFor?: GlyphsFor | undefined;
}

/** Assumed if a device sends no limit: that of this project's firmware with the most memory. */
const DEFAULT_MAX_MESSAGE_BYTES = 65_536;

/** The smallest useful limit. */
const MIN_MAX_MESSAGE_BYTES = 512;

/** Assumptions about a device that has sent no hello. */
export const NO_HELLO: DeviceHello = { maxMessageBytes: DEFAULT_MAX_MESSAGE_BYTES };

/**
 * Reads a device's hello. It may name any transport, or none.
 *
 * @throws HelloRejected that says what is wrong
 */
export function readHello(hello: DeviceMessage): DeviceHello {
	if (hello.type !== "hello") {
		throw new HelloRejected(`expected hello, got ${hello.type.slice(0, 100)}`);
	}
	if (!isObject(hello.features) || hello.features.mcp !== true) {
		throw new HelloRejected("hello: features.mcp: expected true");
	}
	// Firmware up to 0.1 sends it in the features, where some backends accept only booleans.
	const limit = hello.max_message_bytes ?? hello.features.max_message_bytes;
	const isOpus = isObject(hello.audio_params) && hello.audio_params.format === "opus";
	return {
		glyphsFor: hello.features.glyph_push === true ? glyphsFor(hello.text_font) : undefined,
		transport: hello.transport,
		// Firmware of this project names a format without a codec, too, because some backends require it. It alone has the limit.
		playsOpus: isOpus && (limit === undefined || hello.features.audio === true),
		listensOnRequest: limit !== undefined && hello.features.audio === true,
		maxMessageBytes: typeof limit === "number" && limit >= MIN_MAX_MESSAGE_BYTES ? limit : DEFAULT_MAX_MESSAGE_BYTES,
	};
}

/** Sent in each hello: the device need not wait for answers to spoken input. */
const ABOUT = { audio_params: SPOKEN_AUDIO, features: { listen: false } };

/** The gateway's answer to a hello over WebSocket. */
export function webSocketHelloAnswer(sessionId: string): object {
	return { type: "hello", transport: "websocket", session_id: sessionId, ...ABOUT };
}

/**
 * The gateway's answer to a hello over MQTT.
 *
 * @param udp the channel for audio, without which devices of the family do not accept the answer. Undefined: the device wants none
 */
export function mqttHelloAnswer(sessionId: string, udp: object | undefined): object {
	const answer = { type: "hello", session_id: sessionId, ...ABOUT };
	return udp === undefined ? { ...answer, transport: "mqtt" } : { ...answer, transport: "udp", udp };
}

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
