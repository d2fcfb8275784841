import { randomUUID } from "node:crypto";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/server";
import {
	nestsDeeper,
	RateLimit,
	readMessage,
	ServerError,
	type ServerIdentity,
	type ServerTransport,
} from "xs-mcp-manager/core";
import type { AudioLink } from "./audio-link.js";
import type { DeviceHello } from "./hello.js";
import type { DeviceMessage } from "./messages.js";

/** Levels of arrays and objects that a device reads, envelope included: `MAX_JSON_DEPTH` of the firmware. */
const MAX_DEPTH = 32;

/** Most messages of a device per second. More are a fault or an attack: the device is disconnected. */
const MAX_MESSAGES_PER_SECOND = 1_000;

/**
 * MCP over the device protocol, over WebSocket or MQTT: a transport of the official SDK. It puts each MCP message into an
 * envelope with the session id, and sends the protocol's other messages (tts, alert, …).
 *
 * Before a text come the glyphs that the device's screen lacks for it.
 *
 * A subclass delivers at most one message in a turn of the event loop: the caller gets a result in a promise job, and would
 * otherwise see a notification that the device sent after it first.
 */
export abstract class DeviceTransport implements ServerTransport {
	onmessage?: (message: JSONRPCMessage) => void;
	onclose?: () => void;
	onerror?: (error: Error) => void;
	onsend?: (message: JSONRPCMessage) => void;
	readonly identity: ServerIdentity;
	/** Undefined if the device plays no Opus, or this transport has no way for it. */
	readonly audio: AudioLink | undefined;
	/** The `session_id` of this session's envelopes. */
	readonly deviceSessionId = randomUUID();
	#closeReason = "";
	#closed = false;
	readonly #rate = new RateLimit(MAX_MESSAGES_PER_SECOND);

	readonly #hello: DeviceHello;

	constructor(identity: ServerIdentity, hello: DeviceHello) {
		this.identity = identity;
		this.#hello = hello;
	}

	/** Writes one message to the device. */
	protected abstract write(text: string): void;

	/** Ends the connection; over MQTT, the session. */
	protected abstract disconnect(): void;

	get closeReason(): string {
		return this.#closeReason;
	}

	async start(): Promise<void> {}

	/** Rejects with ServerError "invalid-arguments" if the message is too large for the device. */
	async send(message: JSONRPCMessage): Promise<void> {
		this.onsend?.(message);
		checkNesting(message);
		const { jsonrpc, id, ...rest } = message as JSONRPCMessage & { id?: RequestId };
		// The id comes first: a device that cannot read the whole message can still answer it.
		const text = this.#wrap({ type: "mcp", payload: { jsonrpc, id, ...rest } });
		this.#checkSize(text);
		this.#write(text);
	}

	/** Sends a message of the device protocol: `{type: "tts", state: "start"}`. The session id is added. */
	sendMessage(message: { readonly type: string; readonly [member: string]: unknown }): void {
		if (message.type === "tts" && this.audio !== undefined) {
			// A device that speaks does not listen until it says so again.
			this.audio.isListening = false;
		}
		this.#write(this.#wrap(message));
	}

	async close(reason = "closed by the gateway"): Promise<void> {
		if (!this.#closed) {
			this.disconnect();
			this.ended(reason);
		}
	}

	/** Takes one message from the device, except hello. */
	receive(message: DeviceMessage): void {
		const { type, session_id: id, payload } = message;
		if (this.#closed || !this.#isWithinRate()) {
			return;
		}
		if (!this.isForSession(id)) {
			this.onerror?.(new Error("message for another session dropped"));
		} else if (type === "mcp") {
			try {
				this.onmessage?.(readMessage(payload));
			} catch (error) {
				this.onerror?.(new Error(`message dropped: ${(error as Error).message}`));
			}
		} else if (type === "goodbye") {
			this.goodbye(id === this.deviceSessionId);
		} else if (type === "listen" || type === "abort") {
			this.audio?.told(message);
		}
	}

	/** The connection has ended. */
	ended(reason: string): void {
		if (!this.#closed) {
			this.#closed = true;
			this.#closeReason = reason;
			this.onclose?.();
		}
	}

	/** Whether a message with that `session_id` belongs to this session. Other devices of the family may leave it empty. */
	protected isForSession(id: unknown): boolean {
		return id === undefined || id === null || id === "" || id === this.deviceSessionId;
	}

	/** @param namesSession whether the goodbye names this session */
	protected goodbye(_namesSession: boolean): void {
		this.ended("the device said goodbye");
	}

	#wrap(message: { readonly type: string; readonly [member: string]: unknown }): string {
		return JSON.stringify({ session_id: this.deviceSessionId, ...message });
	}

	#write(text: string): void {
		if (!this.#closed) {
			for (const glyphs of this.#hello.glyphsFor?.(text) ?? []) {
				this.write(this.#wrap(glyphs));
			}
			this.write(text);
		}
	}

	#checkSize(text: string): void {
		const { maxMessageBytes } = this.#hello;
		const bytes = Buffer.byteLength(text);
		if (bytes > maxMessageBytes) {
			const problem = `message too large for the device: ${bytes} bytes (limit ${maxMessageBytes})`;
			throw new ServerError("invalid-arguments", problem);
		}
	}

	#isWithinRate(): boolean {
		const isWithin = this.#rate.take();
		if (!isWithin) {
			const reason = `more than ${MAX_MESSAGES_PER_SECOND} messages in a second`;
			this.onerror?.(new Error(`disconnected: ${reason}`));
			void this.close(reason);
		}
		return isWithin;
	}
}

function checkNesting(message: JSONRPCMessage): void {
	// The envelope is one of the levels.
	if (nestsDeeper(message, MAX_DEPTH - 1)) {
		const problem = `message nested too deeply for a device (limit ${MAX_DEPTH} levels)`;
		throw new ServerError("invalid-arguments", problem);
	}
}
