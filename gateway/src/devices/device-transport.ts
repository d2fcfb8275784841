import { randomUUID } from "node:crypto";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import type { ServerIdentity, ServerTransport } from "../servers/session.js";
import type { DeviceMessage } from "./messages.js";
import { normalizeMessage } from "./normalize.js";

/** Messages that a device may send in a second. More are a fault or an attack: the device is disconnected. */
const MAX_MESSAGES_PER_SECOND = 1_000;

/**
 * MCP over the device protocol, whatever carries it: the official SDK's transport for devices. It puts messages into their
 * message, with the session id, and hands on messages beside MCP.
 *
 * A subclass delivers at most one message in a turn of the event loop: the SDK handles a notification in a later promise
 * job than a response, so that progress which comes together with the response would be lost.
 */
export abstract class DeviceTransport implements ServerTransport {
	onmessage?: (message: JSONRPCMessage) => void;
	onclose?: () => void;
	onerror?: (error: Error) => void;
	readonly identity: ServerIdentity;
	/** The `session_id` of this session's envelopes. */
	readonly deviceSessionId = randomUUID();
	#initializeId: unknown;
	#closeReason = "";
	#closed = false;
	#second = 0;
	#messagesInSecond = 0;

	constructor(identity: ServerIdentity) {
		this.identity = identity;
	}

	/** Writes one message to the device. */
	protected abstract write(text: string): void;

	/** Ends the connection, or what there is of it. */
	protected abstract disconnect(): void;

	get closeReason(): string {
		return this.#closeReason;
	}

	async start(): Promise<void> {}

	async send(message: JSONRPCMessage): Promise<void> {
		if ("method" in message && message.method === "initialize" && "id" in message) {
			this.#initializeId = message.id;
		}
		this.sendMessage({ type: "mcp", payload: message });
	}

	/** Sends a message of the device protocol: `{type: "tts", state: "start"}`. The session id is added. */
	sendMessage(message: { readonly type: string; readonly [member: string]: unknown }): void {
		if (!this.#closed) {
			this.write(JSON.stringify({ session_id: this.deviceSessionId, ...message }));
		}
	}

	async close(reason = "closed by the gateway"): Promise<void> {
		if (!this.#closed) {
			this.disconnect();
			this.ended(reason);
		}
	}

	/** Takes one message of the device's, except hello. */
	receive({ type, session_id: id, payload }: DeviceMessage): void {
		if (this.#closed || !this.#isWithinRate()) {
			return;
		}
		if (id !== undefined && id !== this.deviceSessionId) {
			this.onerror?.(new Error("a message for another session was dropped"));
		} else if (type === "mcp") {
			this.#deliver(payload);
		} else if (type === "goodbye") {
			this.goodbye(id !== undefined);
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

	/** @param isForSession whether the goodbye names this session */
	protected goodbye(_isForSession: boolean): void {
		this.ended("the device said goodbye");
	}

	#deliver(payload: unknown): void {
		try {
			this.onmessage?.(normalizeMessage(payload, this.#initializeId));
		} catch (error) {
			this.onerror?.(new Error(`a message was dropped: ${(error as Error).message}`));
		}
	}

	#isWithinRate(): boolean {
		const second = Math.floor(performance.now() / 1_000);
		this.#messagesInSecond = second === this.#second ? this.#messagesInSecond + 1 : 1;
		this.#second = second;
		if (this.#messagesInSecond > MAX_MESSAGES_PER_SECOND) {
			const reason = `more than ${MAX_MESSAGES_PER_SECOND} messages in a second`;
			this.onerror?.(new Error(`disconnected: ${reason}`));
			void this.close(reason);
			return false;
		}
		return true;
	}
}
