import { randomUUID } from "node:crypto";
import {
	type Implementation,
	type InitializeResult,
	isSpecType,
	type JSONRPCMessage,
	LATEST_PROTOCOL_VERSION,
	ProtocolErrorCode,
	type RequestId,
	type ServerCapabilities,
} from "@modelcontextprotocol/client";
import {
	type Capabilities,
	Connection,
	nestsDeeper,
	type PendingRequest,
	RateLimit,
	readMessage,
	ServerError,
	type ServerIdentity,
} from "xs-mcp-manager/core";
import type { AudioLink } from "./audio-link.js";
import type { DeviceHello, DeviceMessage } from "./hello.js";

/** Levels of arrays and objects that a device reads, envelope included: `MAX_JSON_DEPTH` of the firmware. */
const MAX_DEPTH = 32;

/** Most messages of a device per second. More are a fault or an attack: the device is disconnected. */
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
	/** The device has said goodbye. Default: the connection has ended. */
	onGoodbye?(namesSession: boolean): void;
	/** The connection has ended. */
	onEnded?(): void;
}

/**
 * MCP with a device in the envelope of the device protocol, over WebSocket or MQTT, and the protocol's other messages (tts,
 * alert, …). Before a text come the glyphs that the device's screen lacks for it.
 *
 * The link delivers at most one message in a turn of the event loop: the caller gets a result in a promise job, and would
 * otherwise see a notification that the device sent after it first.
 *
 * Not the SDK's client: that takes three times the memory for each device, and more CPU for each call.
 */
export class DeviceConnection extends Connection {
	/** The `session_id` of this session's envelopes. */
	readonly sessionId = randomUUID();
	readonly #hello: DeviceHello;
	readonly #link: DeviceLink;
	readonly #rate = new RateLimit(MAX_MESSAGES_PER_SECOND);
	#revision: string | undefined;
	#capabilities: ServerCapabilities = {};

	constructor(identity: ServerIdentity, hello: DeviceHello, link: DeviceLink) {
		super(identity);
		this.#hello = hello;
		this.#link = link;
	}

	override get revision(): string | undefined {
		return this.#revision;
	}

	override get capabilities(): ServerCapabilities {
		return this.#capabilities;
	}

	override get audio(): AudioLink | undefined {
		return this.#link.audio;
	}

	override async initialize(capabilities: Capabilities, clientInfo: Implementation): Promise<void> {
		const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities, clientInfo };
		const initialized = (await this.forward({ method: "initialize", params })) as InitializeResult;
		const { name, version } = initialized.serverInfo;
		this.#revision = initialized.protocolVersion;
		this.#capabilities = initialized.capabilities;
		this.info = { name, version };
		this.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
	}

	override send(message: { readonly type: string; readonly [member: string]: unknown }): void {
		if (message.type === "tts" && this.audio !== undefined) {
			// A device that speaks does not listen until it says so again.
			this.audio.isListening = false;
		}
		this.#write(this.#wrap(message));
	}

	/** Takes one message from the device, except hello. */
	receive(message: DeviceMessage): void {
		const { type, session_id: id, payload } = message;
		if (!this.isOpen || !this.#isWithinRate()) {
			return;
		}
		// Other devices of the family may leave it empty.
		const namesOther = id !== undefined && id !== null && id !== "" && id !== this.sessionId;
		if (namesOther && this.#link.isShared) {
			this.reject("message for another session dropped");
		} else if (type === "mcp") {
			try {
				this.#receive(readMessage(payload));
			} catch (error) {
				this.reject(`message dropped: ${(error as Error).message}`);
			}
		} else if (type === "goodbye" && this.#link.onGoodbye !== undefined) {
			this.#link.onGoodbye(id === this.sessionId);
		} else if (type === "goodbye") {
			this.ended("the device said goodbye");
		} else if (type === "listen" || type === "abort") {
			this.audio?.told(message);
		}
	}

	override ended(reason: string): void {
		if (this.isOpen) {
			this.#link.onEnded?.();
			super.ended(reason);
		}
	}

	/** Throws ServerError "invalid-arguments" if the message is too large for the device. */
	protected override write(pending: PendingRequest): void {
		this.#send({ jsonrpc: "2.0", id: pending.id, ...pending.message });
	}

	override cancelled({ id, request }: PendingRequest, reason: string): void {
		// `initialize` cannot be cancelled: MCP "Cancellation".
		if (request.method !== "initialize") {
			try {
				this.#send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } });
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

	#receive(message: JSONRPCMessage): void {
		if (!("method" in message)) {
			const pending = this.requestBy(message.id);
			if (pending === undefined) {
				throw new Error(`answer to an unknown request: ${JSON.stringify(message.id)}`);
			}
			pending.answered(message);
			return;
		}
		const { method, params = {} } = message;
		if ("id" in message) {
			const error = { code: ProtocolErrorCode.MethodNotFound, message: "Method not found" };
			this.#send({ jsonrpc: "2.0", id: message.id, ...(method === "ping" ? { result: {} } : { error }) });
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

	/** Sends a message whose id comes first: a device that cannot read the whole message can still answer it. */
	#send(message: JSONRPCMessage): void {
		// The envelope is one of the levels.
		if (nestsDeeper(message, MAX_DEPTH - 1)) {
			const problem = `message nested too deeply for a device (limit ${MAX_DEPTH} levels)`;
			throw new ServerError("invalid-arguments", problem);
		}
		const text = this.#wrap({ type: "mcp", payload: message });
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

	#isWithinRate(): boolean {
		const isWithin = this.#rate.take();
		if (!isWithin) {
			const reason = `more than ${MAX_MESSAGES_PER_SECOND} messages in a second`;
			this.reject(`disconnected: ${reason}`);
			this.close(reason);
		}
		return isWithin;
	}
}
