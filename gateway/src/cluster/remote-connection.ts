import type { ServerCapabilities } from "@modelcontextprotocol/client";
import { Connection, type KnownServer, type Offers, type PendingRequest } from "xs-mcp-manager/core";
import type { Entry } from "./messages.js";
import type { OutgoingCalls } from "./outgoing-calls.js";

const CHANGED = ["tools", "resources", "prompts"].map((list) => `notifications/${list}/list_changed`);

interface RemoteOptions {
	readonly calls: OutgoingCalls;
	/** The connection has ended, by either side. */
	readonly onClosed: () => void;
}

/**
 * A connection to a device of another gateway. Handshake and lists are known from the cluster's data; requests go to the
 * gateway that has the device.
 */
export class RemoteConnection extends Connection {
	readonly #options: RemoteOptions;
	#entry: Entry;
	#offers: Offers;
	/** Ids of calls by their requests. */
	readonly #calls = new WeakMap<PendingRequest, string>();

	constructor(entry: Entry, offers: Offers, options: RemoteOptions) {
		const { id, clientId, transport, gateway } = entry;
		super({ id, clientId, transport, gateway });
		this.info = entry.board;
		this.#entry = entry;
		this.#offers = offers;
		this.#options = options;
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
	protected override write(pending: PendingRequest): void {
		const { gateway, id: device, claim } = this.#entry;
		this.#calls.set(pending, this.#options.calls.begin({ gateway, device, claim }, pending));
	}

	override cancelled(pending: PendingRequest): void {
		this.#options.calls.cancel(this.#calls.get(pending) ?? "");
	}

	protected override disconnect(): void {
		this.#options.onClosed();
	}

	protected override failPending(): void {
		for (const pending of this.pending.values()) {
			this.#options.calls.forget(this.#calls.get(pending) ?? "");
		}
		super.failPending();
	}
}
