import type { JSONRPCMessage, JSONRPCRequest, RequestId } from "@modelcontextprotocol/client";
import {
	isServerErrorCode,
	type KnownServer,
	type Offers,
	SERVER_ERROR,
	ServerError,
	type ServerIdentity,
	type ServerTransport,
} from "xs-mcp-manager/core";
import { isObject } from "../firmware.js";
import type { Entry, Reply } from "./messages.js";
import type { CallTarget, OutgoingCalls } from "./outgoing-calls.js";

const CHANGED = ["tools", "resources", "prompts"].map((list) => `notifications/${list}/list_changed`);

interface RemoteOptions {
	readonly calls: OutgoingCalls;
	/** The session is over, ended by either side. */
	readonly onClosed: () => void;
}

/**
 * A session with a device of another gateway, as if the device were here: a transport of the official SDK. Handshake and
 * lists are known from the cluster's data; requests go to the gateway that has the device.
 */
export class RemoteTransport implements ServerTransport {
	onmessage?: (message: JSONRPCMessage) => void;
	onclose?: () => void;
	onerror?: (error: Error) => void;
	onsend?: (message: JSONRPCMessage) => void;
	readonly identity: ServerIdentity;
	readonly #options: RemoteOptions;
	#entry: Entry;
	#offers: Offers;
	#closeReason = "";
	#closed = false;
	/** Ids of calls by those of their requests. */
	readonly #calls = new Map<RequestId, string>();

	constructor(entry: Entry, offers: Offers, options: RemoteOptions) {
		const { id, clientId, transport, gateway } = entry;
		this.identity = { id, clientId, transport, gateway };
		this.#entry = entry;
		this.#offers = offers;
		this.#options = options;
	}

	get known(): KnownServer {
		const { board: info, capabilities, revision, state } = this.#entry;
		return { info, capabilities, revision, state, offers: this.#offers };
	}

	get closeReason(): string {
		return this.#closeReason;
	}

	/** Names the device's session with its gateway. A session that goes on needs no handshake. */
	get sessionId(): string {
		return this.#entry.claim;
	}

	async start(): Promise<void> {}

	async send(message: JSONRPCMessage): Promise<void> {
		this.onsend?.(message);
		if (!("method" in message)) {
			return;
		}
		if ("id" in message) {
			this.#call(message);
		} else if (message.method === "notifications/cancelled") {
			const id = message.params?.requestId as RequestId;
			const call = this.#calls.get(id);
			this.#calls.delete(id);
			if (call !== undefined) {
				this.#options.calls.cancel(call);
			}
		}
	}

	async close(reason = "closed by the gateway"): Promise<void> {
		if (this.#closed) {
			return;
		}
		this.#closed = true;
		this.#closeReason = reason;
		for (const call of this.#calls.values()) {
			this.#options.calls.forget(call);
		}
		this.#options.onClosed();
		this.onclose?.();
	}

	/** The device has other lists. */
	update(entry: Entry, offers: Offers): void {
		const isChanged = entry.offers !== this.#entry.offers;
		this.#entry = entry;
		this.#offers = offers;
		if (isChanged) {
			for (const method of CHANGED) {
				this.notified(method, {});
			}
		}
	}

	/** A notification of the device. */
	notified(method: string, params: Record<string, unknown>): void {
		this.onmessage?.({ jsonrpc: "2.0", method, params });
	}

	#call({ id, method, params = {} }: JSONRPCRequest): void {
		const { gateway, id: device, claim } = this.#entry;
		const target: CallTarget = { gateway, device, claim };
		const meta = isObject(params._meta) ? params._meta : {};
		try {
			const call = this.#options.calls.begin(
				target,
				{ method, params },
				{
					progress: (progress) =>
						this.notified("notifications/progress", { ...progress, progressToken: meta.progressToken }),
					answer: (reply) => this.#answer(id, reply),
				},
			);
			this.#calls.set(id, call);
		} catch (error) {
			this.#fail(id, error as ServerError);
		}
	}

	#answer(id: RequestId, { result, error, failed }: Reply): void {
		this.#calls.delete(id);
		if (result !== undefined) {
			this.onmessage?.({ jsonrpc: "2.0", id, result });
		} else if (error !== undefined) {
			this.onmessage?.({ jsonrpc: "2.0", id, error });
		} else {
			const { code = "", message = "the other gateway's answer is empty" } = failed ?? {};
			this.#fail(id, new ServerError(isServerErrorCode(code) ? code : "invalid-result", message));
		}
	}

	#fail(id: RequestId, error: ServerError): void {
		this.onmessage?.({ jsonrpc: "2.0", id, error: { code: SERVER_ERROR, message: error.message, data: error } });
	}
}
