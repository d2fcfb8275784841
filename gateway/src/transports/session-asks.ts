import type { JSONRPCRequest } from "@modelcontextprotocol/server";
import type { KeptSession, KeptSessions } from "./kept-sessions.js";
import type { SessionTransport } from "./session-transport.js";

/** Subscriptions and log level of a session. They are kept, and made again after a restart. */
export class SessionAsks {
	readonly #transport: SessionTransport;
	readonly #kept: KeptSessions;
	readonly #subscriptions = new Set<string>();
	/** Subscriptions of an earlier process that have not succeeded yet: their server may still be connecting. */
	readonly #missing = new Set<string>();
	#logLevel: string | undefined;

	constructor(transport: SessionTransport, kept: KeptSessions) {
		this.#transport = transport;
		this.#kept = kept;
	}

	/** The client's request has succeeded. Settles when what it asked for is kept. */
	async answered({ method, params = {} }: JSONRPCRequest): Promise<void> {
		if (method === "resources/subscribe") {
			this.#subscriptions.add(`${params.uri}`);
		} else if (method === "resources/unsubscribe") {
			this.#subscriptions.delete(`${params.uri}`);
			this.#missing.delete(`${params.uri}`);
		} else if (method === "logging/setLevel") {
			this.#logLevel = `${params.level}`;
		} else {
			return;
		}
		await this.#keep();
	}

	/** Asks again for what an earlier process has kept. */
	async restore(id: string): Promise<void> {
		const { subscriptions = [], logLevel }: Partial<KeptSession> = (await this.#kept.read(id)) ?? {};
		if (logLevel !== undefined) {
			this.#logLevel = logLevel;
			await this.#transport.ask("logging/setLevel", { level: logLevel }).catch(() => {});
		}
		for (const uri of subscriptions) {
			this.#subscriptions.add(uri);
			this.#missing.add(uri);
		}
		this.repeat();
	}

	/** Subscribes to what could not be subscribed to before. */
	repeat(): void {
		for (const uri of [...this.#missing]) {
			this.#missing.delete(uri);
			// Tried again with the next change of the lists, unless the client has unsubscribed.
			this.#transport
				.ask("resources/subscribe", { uri })
				.catch(() => this.#subscriptions.has(uri) && this.#missing.add(uri));
		}
	}

	async #keep(): Promise<void> {
		const { sessionId } = this.#transport;
		if (sessionId !== undefined) {
			const logLevel = this.#logLevel;
			await this.#kept.write(sessionId, { subscriptions: [...this.#subscriptions], ...(logLevel && { logLevel }) });
		}
	}
}
