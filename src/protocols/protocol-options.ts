import type { TextFont } from "../hardware/hardware.js";
import type { AudioParams } from "../hardware/sound.js";
import type { Runtime } from "../hardware/timer.js";
import { deepFreeze } from "../text/deep-freeze.js";
import type { Sendable } from "../text/pieced-text.js";
import type { BackoffOptions } from "./backoff.js";
import type { Envelope, WantedNames } from "./envelope.js";
import type { Session } from "./hello.js";
import type { ProtocolError } from "./transport.js";

/** Messages besides MCP that reach the application. */
export const APPLICATION_TYPES: readonly string[] = deepFreeze([
	"tts",
	"stt",
	"llm",
	"system",
	"alert",
	"custom",
	"notify",
	"listen",
	"speak_request",
	"glyph_push",
]);

/** Events of the connection to the backend. */
export interface ProtocolEvents {
	/** An attempt to start a session begins. */
	onConnecting(): void;
	/**
	 * Messages may arrive and be answered from now on: the connection is open, or outlives a session that has just ended.
	 * Some backends send MCP before their hello.
	 */
	onOpen(): void;
	/** Hellos are exchanged. A backend may repeat its hello, and so change the session. */
	onSession(session: Session): void;
	/** Session that receives MCP messages, while one is open. */
	readonly receiver: { receive(payload: unknown): void; reject(payload: unknown, reason: string): void } | undefined;
	/** @returns a replacement for a message that the backend does not take; undefined for none, the default */
	shorten?(message: Sendable, bytes: number, maxBytes: number): Sendable | undefined;
	/** A message of another known type: one of {@link APPLICATION_TYPES}. */
	onMessage(message: Envelope): void;
	/**
	 * An attempt failed, or the session ended. Another attempt follows in `retryIn` milliseconds; if undefined, only when
	 * a session is needed.
	 */
	onLost(error: ProtocolError, retryIn: number | undefined): void;
}

/** When the device is in a session: always, or only while it or the backend needs one. */
export type SessionPolicy = "always" | "on-demand";

export interface ProtocolOptions extends Runtime {
	readonly events: ProtocolEvents;
	/** Takes binary messages: frames of audio, as the protocol version frames them. If absent, such messages are dropped. */
	readonly onAudio?: ((frame: ArrayBuffer) => void) | undefined;
	/** The format of the board's audio, for a transport that carries audio. */
	readonly audio?: AudioParams | undefined;
	/** Whether a hello without the board's audio names the family's format. Default true. */
	readonly namesFormat?: boolean | undefined;
	/** The screen's font, if the backend may send glyphs for it. */
	readonly font?: TextFont | undefined;
	/** Default "always": the backend can call the device at any time. */
	readonly session?: SessionPolicy;
	/** The wanted members of MCP messages. Default: all. */
	readonly names?: WantedNames;
	readonly backoff?: BackoffOptions;
	/** Milliseconds for the connection, and again for the backend's hello. Default 10,000. */
	readonly helloTimeout?: number;
}
