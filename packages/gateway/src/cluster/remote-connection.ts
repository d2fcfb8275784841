import type { RequestId, ServerCapabilities } from "@modelcontextprotocol/client";
import type { Msg } from "@nats-io/transport-node";
import {
	Connection,
	isServerErrorCode,
	type KnownServer,
	type Offers,
	type PendingRequest,
	ServerError,
} from "xs-mcp-manager/core";
import { type Bus, hasNoResponder, partOf } from "./bus.js";
import { type Call, type Entry, readMessage, replySchema, VERSION } from "./messages.js";

const CHANGED = ["tools", "resources", "prompts"].map((list) => `notifications/${list}/list_changed`);

/** Bytes of an answer, which comes in parts. */
const MAX_ANSWER = 64 * 1024 * 1024;

/**
 * A connection to a device of another gateway. Handshake and lists are known from the cluster's data; requests go to the
 * gateway that has the device.
 */
export class RemoteConnection extends Connection {
	readonly #bus: Bus;
	readonly #replyTo: string;
	readonly #onClosed: () => void;
	#entry: Entry;
	#offers: Offers;
	/** Parts of answers that are not complete yet, by request. Undefined before the first one: there are thousands of devices. */
	#parts: Map<RequestId, Buffer[]> | undefined;

	/**
	 * @param replyTo the subject of the answers to a request, without its id
	 * @param onClosed called when the connection has ended, by either side
	 */
	constructor(entry: Entry, offers: Offers, bus: Bus, replyTo: string, onClosed: () => void) {
		const { id, clientId, transport, gateway } = entry;
		super({ id, clientId, transport, gateway });
		this.info = entry.board;
		this.#entry = entry;
		this.#offers = offers;
		this.#bus = bus;
		this.#replyTo = replyTo;
		this.#onClosed = onClosed;
	}

	override get known(): KnownServer {
		return { state: this.#entry.state, offers: this.#offers };
	}

	override get revision(): string {
		return this.#entry.revision;
	}

	override get capabilities(): ServerCapabilities {
		return this.#entry.capabilities;
	}

	/** Names the device's session with its gateway. */
	get claim(): string {
		return this.#entry.claim;
	}

	/** Whether calls are in progress. */
	get isWaiting(): boolean {
		return this.pending.size > 0;
	}

	override async initialize(): Promise<void> {}

	/** The device has other lists. */
	update(entry: Entry, offers: Offers): void {
		const isChanged = entry.offers !== this.#entry.offers;
		this.info = entry.board;
		this.#entry = entry;
		this.#offers = offers;
		if (isChanged) {
			for (const method of CHANGED) {
				this.notified(method, {});
			}
		}
	}

	/** Throws ServerError if nothing was sent. */
	protected override write({ id, message }: PendingRequest): void {
		const bus = this.#bus;
		if (!bus.connected) {
			throw new ServerError("server-offline", "the connection to the cluster is lost. Nothing was sent to the device.");
		}
		const { gateway, id: device, claim } = this.#entry;
		const { method, params = {} } = message;
		const call: Call = { v: VERSION, device, claim, method, params };
		const bytes = Buffer.byteLength(JSON.stringify(call));
		if (bytes > bus.maxBytes) {
			throw new ServerError("invalid-arguments", `request too large: ${bytes} bytes (limit ${bus.maxBytes})`);
		}
		bus.publish(bus.subjects.call(gateway), call, this.#replyTo + id);
	}

	override cancelled({ id }: PendingRequest): void {
		const { connected, subjects } = this.#bus;
		if (connected) {
			this.#bus.publish(subjects.cancel(this.#entry.gateway), { v: VERSION, reply: this.#replyTo + id });
		}
	}

	override settled(pending: PendingRequest, error: Error | undefined): void {
		this.#parts?.delete(pending.id);
		super.settled(pending, error);
	}

	/** Reads a part of the answer to a request: progress, or one of the three ends. */
	answered(id: RequestId, message: Msg): void {
		const request = this.pending.get(id);
		if (request === undefined) {
			return;
		}
		if (hasNoResponder(message)) {
			const gone = `gateway ${this.#entry.gateway}, which has the device, is gone. Nothing was sent to the device.`;
			request.fail(new ServerError("server-offline", gone));
			return;
		}
		const bytes = this.#assemble(id, message);
		if (bytes === "partial") {
			return;
		}
		const reply = readMessage(replySchema, bytes);
		if (reply?.progress !== undefined) {
			this.notified("notifications/progress", { ...reply.progress, progressToken: id });
			request.progressed(reply.progress);
		} else if (reply?.result !== undefined || reply?.error !== undefined) {
			request.answered(reply);
		} else {
			const { code, message: text = "the other gateway's answer cannot be read" } = reply?.failed ?? {};
			request.fail(new ServerError(isServerErrorCode(code) ? code : "invalid-result", text));
		}
	}

	/** The bytes of a message with those of its earlier parts; none if one is missing, or they are too many. */
	#assemble(id: RequestId, message: Msg): Uint8Array | "partial" {
		const { part, parts } = partOf(message) ?? { part: 1, parts: 1 };
		if (parts === 1) {
			return message.data;
		}
		this.#parts ??= new Map();
		const known = [...(this.#parts.get(id) ?? []), Buffer.from(message.data)];
		this.#parts.set(id, known);
		const bytes = known.reduce((sum, { length }) => sum + length, 0);
		if (part !== known.length || bytes > MAX_ANSWER) {
			return Buffer.alloc(0);
		}
		return part === parts ? Buffer.concat(known) : "partial";
	}

	protected override disconnect(): void {
		this.#onClosed();
	}
}
