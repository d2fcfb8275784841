import type { Client } from "../mcp_server/client.js";

/** Clients that are known at a time: the one that was not heard for the longest time is forgotten. */
const MAX_CLIENTS = 4;

/**
 * What clients of the revisions until 2025-11-25 said of themselves in `initialize`, by the value of `Mcp-Session-Id`. It is
 * no session: a client that was forgotten is served all the same, as one without capabilities.
 */
export class KnownClients {
	/** The one that was heard last comes last. */
	readonly #clients = new Map<string, Client>();

	/** @returns the id by which the client is known from now on */
	add(client: Client): string {
		for (const id of this.#clients.keys()) {
			if (this.#clients.size >= MAX_CLIENTS) {
				this.#clients.delete(id);
			}
		}
		const id = `${randomDigits()}${randomDigits()}`;
		this.#clients.set(id, client);
		return id;
	}

	find(id: string | undefined): Client | undefined {
		const client = id === undefined ? undefined : this.#clients.get(id);
		if (id !== undefined && client !== undefined) {
			this.#clients.delete(id);
			this.#clients.set(id, client);
		}
		return client;
	}
}

function randomDigits(): string {
	return Math.random().toString(16).slice(2);
}
