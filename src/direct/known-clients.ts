import type { Client } from "../mcp_server/client.js";

/** Limit of known clients. Beyond it the least recently seen one is forgotten. */
const MAX_CLIENTS = 4;

/**
 * Capabilities of clients up to 2025-11-25, by `Mcp-Session-Id`. Not a session: a forgotten
 * client is still served, as one without capabilities.
 */
export class KnownClients {
	/** The most recently seen one comes last. */
	private readonly clients = new Map<string, Client>();

	/** @returns the client's id from now on */
	add(client: Client): string {
		for (const id of this.clients.keys()) {
			if (this.clients.size >= MAX_CLIENTS) {
				this.clients.delete(id);
			}
		}
		const id = `${randomDigits()}${randomDigits()}`;
		this.clients.set(id, client);
		return id;
	}

	find(id: string | undefined): Client | undefined {
		const client = id === undefined ? undefined : this.clients.get(id);
		if (id !== undefined && client !== undefined) {
			this.clients.delete(id);
			this.clients.set(id, client);
		}
		return client;
	}
}

const randomDigits = (): string => Math.random().toString(16).slice(2);
