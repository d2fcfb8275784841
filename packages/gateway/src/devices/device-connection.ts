import { randomUUID } from "node:crypto";
import {
	type Implementation,
	type InitializeResult,
	isSpecType,
	type JSONRPCMessage,
	type JSONRPCNotification,
	type JSONRPCRequest,
	LATEST_PROTOCOL_VERSION,
	ProtocolErrorCode,
	type RequestId,
	type ServerCapabilities,
} from "@modelcontextprotocol/client";
import { isObject } from "xs-mcp-firmware/core/text/json";
import {
	type AudioLink,
	type Capabilities,
	Connection,
	flawOf,
	type PendingRequest,
	RateLimit,
	readMessage,
	ServerError,
	type ServerIdentity,
} from "xs-mcp-manager/core";
import type { FontBundle, GlyphPushFor } from "./font-bundle.js";
import { type GlyphsFor, glyphsFor } from "./glyph-file.js";

/** Levels of arrays and objects that a device reads, envelope included: `MAX_JSON_DEPTH` of the firmware. */
const MAX_DEPTH = 32;

/** Most messages of a device per second, answers aside. More are a fault or an attack: the device is disconnected. */
const MAX_MESSAGES_PER_SECOND = 1_000;

/** The way to a device: its WebSocket, or its topics at a broker. */
export interface DeviceLink {
	/** Writes one message to the device. */
	write(text: string): void;
	/** Ends the connection; over MQTT, the session. */
	disconnect(): void;
	/** Undefined if the device plays no Opus, or this way has no packets. */
	readonly audio?: AudioLink | undefined;
	/** Whether messages of other sessions of the device may arrive. Those that name one are dropped. */
	readonly isShared?: boolean;
	/** Whether it carries MCP without the envelope, and nothing else. */
	readonly isBare?: boolean;
	/** The device has said goodbye. Default: the connection has ended. */
	onGoodbye?(namesSession: boolean): void;
	/** The connection has ended. */
	onEnded?(): void;
}

/**
 * MCP with a device in the envelope of the device protocol, over WebSocket or MQTT, and the protocol's other messages (tts,
 * alert, …). Our firmware gets the glyphs that its screen lacks for a text before it, other firmware gets them with the text.
 *
 * The link delivers each message in a callback of the event loop: the caller gets a result in a promise job, and would
 * otherwise see a notification that the device sent after it first.
 *
 * Not the SDK's client: that takes three times the memory for each device, and more CPU for each call.
 */
export class DeviceConnection extends Connection {
	/** The `session_id` of this session's envelopes. */
	readonly sessionId = randomUUID();
	override revision: string | undefined;
	override capabilities: ServerCapabilities = {};
	readonly #hello: DeviceHello;
	readonly #link: DeviceLink;
	readonly #rate = new RateLimit(MAX_MESSAGES_PER_SECOND);

	constructor(identity: ServerIdentity, hello: DeviceHello, link: DeviceLink) {
		super(identity);
		this.#hello = hello;
		this.#link = link;
	}

	override get audio(): AudioLink | undefined {
		return this.#link.audio;
	}

	override get isOfFamily(): boolean {
		return super.isOfFamily && this.#link.isBare !== true;
	}

	override async initialize(capabilities: Capabilities, clientInfo: Implementation): Promise<void> {
		const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities, clientInfo };
		const initialized = (await this.request({ method: "initialize", params })) as InitializeResult;
		const { name, version } = initialized.serverInfo;
		this.revision = initialized.protocolVersion;
		this.capabilities = initialized.capabilities;
		this.info = { name, version };
		this.write({ message: { jsonrpc: "2.0", method: "notifications/initialized" } });
	}

	override send(message: { readonly type: string; readonly [member: string]: unknown }): void {
		if (message.type === "tts" && this.audio !== undefined) {
			// A device that speaks does not listen until it says so again.
			this.audio.isListening = false;
		}
		if (this.#link.isBare !== true) {
			const { type, state, text } = message;
			const isShown = type === "stt" || (type === "tts" && state === "sentence_start");
			const glyph_push = isShown && typeof text === "string" ? this.#hello.glyphPushFor?.(text) : undefined;
			const whole = this.#wrap({ ...message, glyph_push });
			const isTooLarge = glyph_push !== undefined && Buffer.byteLength(whole) > this.#hello.maxMessageBytes;
			this.#write(isTooLarge ? this.#wrap(message) : whole);
		}
	}

	/** Takes a message from the device, except hello, or the text of one. */
	receive(received: DeviceMessage | string): void {
		if (!this.isOpen) {
			return;
		}
		let isAnswer = false;
		try {
			const message = typeof received === "string" ? parseMessage(received) : received;
			const { type, session_id: id } = message;
			// Other devices of the family may leave it empty.
			const namesOther = id !== undefined && id !== null && id !== "" && id !== this.sessionId;
			if (namesOther && this.#link.isShared) {
				this.reject("message for another session dropped");
			} else if (type === "mcp") {
				const mcp = readMessage(message.payload);
				if ("method" in mcp) {
					this.#receiveRequest(mcp);
				} else {
					const pending = this.pending.get(mcp.id as RequestId);
					if (pending === undefined) {
						throw new Error(`answer to an unknown request: ${JSON.stringify(mcp.id)}`);
					}
					isAnswer = true;
					pending.answered(mcp);
				}
			} else if (type === "goodbye" && this.#link.onGoodbye !== undefined) {
				this.#link.onGoodbye(id === this.sessionId);
			} else if (type === "goodbye") {
				this.ended("the device said goodbye");
			} else if (type === "listen" || type === "abort") {
				this.audio?.receiveMessage(message);
			}
		} catch (error) {
			this.reject(`message dropped: ${(error as Error).message}`);
		}
		if (!isAnswer && !this.#rate.take()) {
			const reason = `more than ${MAX_MESSAGES_PER_SECOND} messages in a second`;
			this.reject(`disconnected: ${reason}`);
			this.close(reason);
		}
	}

	override ended(reason: string): void {
		if (this.isOpen) {
			this.#link.onEnded?.();
			super.ended(reason);
		}
	}

	override cancelled({ id, request }: PendingRequest, reason: string): void {
		// `initialize` cannot be cancelled: MCP "Cancellation".
		if (request.method !== "initialize") {
			try {
				const params = { requestId: id, reason };
				this.write({ message: { jsonrpc: "2.0", method: "notifications/cancelled", params } });
			} catch (error) {
				this.reject(`${request.method} not cancelled: ${(error as Error).message}`);
			}
		}
	}

	protected override disconnect(): void {
		this.#link.disconnect();
	}

	protected override requestBy(id: unknown): PendingRequest | undefined {
		return this.pending.get(id as RequestId);
	}

	/** Answers a request, or passes a notification on. Throws Error if it is progress of an unknown request. */
	#receiveRequest(message: JSONRPCRequest | JSONRPCNotification): void {
		const { method, params = {} } = message;
		if ("id" in message) {
			const error = { code: ProtocolErrorCode.MethodNotFound, message: "Method not found" };
			this.write({ message: { jsonrpc: "2.0", id: message.id, ...(method === "ping" ? { result: {} } : { error }) } });
			return;
		}
		this.notified(method, params);
		if (method === "notifications/progress") {
			const { progressToken, ...progress } = params;
			const pending = this.requestBy(progressToken);
			if (!isSpecType.ProgressNotification(message) || pending?.context.onProgress === undefined) {
				throw new Error("progress of an unknown request");
			}
			pending.progressed(progress);
		}
	}

	/**
	 * Sends a message whose id comes first: a device that cannot read the whole message can still answer it. Throws ServerError
	 * "invalid-arguments" if the device could not read it.
	 */
	protected override write({ message }: { readonly message: JSONRPCMessage }): void {
		// The envelope is one of the levels.
		if (flawOf(message, MAX_DEPTH - 1) === "depth") {
			const problem = `message nested too deeply for a device (limit ${MAX_DEPTH} levels)`;
			throw new ServerError("invalid-arguments", problem);
		}
		const text = JSON.stringify(
			this.#link.isBare ? message : { session_id: this.sessionId, type: "mcp", payload: message },
		);
		const bytes = Buffer.byteLength(text);
		const { maxMessageBytes } = this.#hello;
		if (bytes > maxMessageBytes) {
			const problem = `message too large for the device: ${bytes} bytes (limit ${maxMessageBytes})`;
			throw new ServerError("invalid-arguments", problem);
		}
		this.#write(text);
	}

	#wrap(message: { readonly type: string; readonly [member: string]: unknown }): string {
		return JSON.stringify({ session_id: this.sessionId, ...message });
	}

	#write(text: string): void {
		if (this.isOpen) {
			for (const glyphs of this.#hello.glyphsFor?.(text) ?? []) {
				this.#link.write(this.#wrap(glyphs));
			}
			this.#link.write(text);
		}
	}
}

/** The format of speech for devices, as servers of the family have it. */
export const SPOKEN_AUDIO = { format: "opus", sample_rate: 24_000, channels: 1, frame_duration: 60 } as const;

/** Members of each hello of the gateway. The device need not wait for answers to spoken input. */
export const GATEWAY_HELLO = { type: "hello", audio_params: SPOKEN_AUDIO, features: { listen: false } };

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
	/** The same for other firmware of the family. */
	readonly glyphPushFor?: GlyphPushFor | undefined;
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
 * @throws RangeError with the reason
 */
export function readHello(hello: DeviceMessage, fonts?: FontBundle): DeviceHello {
	if (hello.type !== "hello") {
		throw new RangeError(`expected hello, got ${hello.type.slice(0, 100)}`);
	}
	if (!isObject(hello.features) || hello.features.mcp !== true) {
		throw new RangeError("hello: features.mcp: expected true");
	}
	// Firmware up to 0.1 sends it in the features, where some backends accept only booleans.
	const limit = hello.max_message_bytes ?? hello.features.max_message_bytes;
	const isOpus = isObject(hello.audio_params) && hello.audio_params.format === "opus";
	const font = hello.features.glyph_push === true ? hello.text_font : undefined;
	const ownGlyphs = glyphsFor(font);
	return {
		glyphsFor: ownGlyphs,
		glyphPushFor: ownGlyphs === undefined ? fonts?.(font) : undefined,
		transport: hello.transport,
		// Firmware of this project names a format without a codec, too, because some backends require it. It alone has the limit.
		playsOpus: isOpus && (limit === undefined || hello.features.audio === true),
		listensOnRequest: limit !== undefined && hello.features.audio === true,
		maxMessageBytes: typeof limit === "number" && limit >= MIN_MAX_MESSAGE_BYTES ? limit : DEFAULT_MAX_MESSAGE_BYTES,
	};
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
	// Firmware sends a byte order mark, or the end of a string in C, with its text.
	let end = text.length;
	while (text.charCodeAt(end - 1) === 0) {
		end -= 1;
	}
	const message: unknown = JSON.parse(text.slice(text.charCodeAt(0) === 0xfeff ? 1 : 0, end));
	if (!isObject(message)) {
		throw new SyntaxError("expected an object");
	}
	if (typeof message.type !== "string") {
		throw new SyntaxError("type: expected a string");
	}
	return message as DeviceMessage;
}
