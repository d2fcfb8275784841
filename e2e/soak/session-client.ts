import { setMaxListeners } from "node:events";
import { Client, type FetchLike, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ERAS } from "xs-mcp-gateway/testing/gateway";

/** Tries for longer than any outage; by default the SDK gives up after two attempts, that is 2.5 s. */
const PATIENT = {
	initialReconnectionDelay: 1_000,
	maxReconnectionDelay: 5_000,
	reconnectionDelayGrowFactor: 1.5,
	maxRetries: 1_000_000,
};

const REVISIONS_WITH_SESSIONS = ["2025-11-25", "2025-06-18", "2025-03-26"];

const STATELESS_PART = 5;

export class SessionClient {
	readonly revision: string;
	readonly client: Client;
	initialized = 0;
	readonly sessions = new Set<string>();
	answers = 0;

	private constructor(number: number) {
		const isStateless = number % STATELESS_PART === 0;
		const revision = REVISIONS_WITH_SESSIONS[number % REVISIONS_WITH_SESSIONS.length] as string;
		this.revision = isStateless ? "2026-07-28" : revision;
		const info = { name: "restart-client", version: "1.0.0" };
		this.client = new Client(
			info,
			isStateless ? ERAS["2026-07-28"] : { ...ERAS["2025-11-25"], supportedProtocolVersions: [revision] },
		);
	}

	/** @param number clients with different ones speak different revisions */
	static async connect(url: string, number: number): Promise<SessionClient> {
		const self = new SessionClient(number);
		const options = { fetch: self.#fetch, reconnectionOptions: PATIENT };
		await self.client.connect(new StreamableHTTPClientTransport(new URL(url), options));
		return self;
	}

	readonly #fetch: FetchLike = (url, init) => {
		if (init?.signal) {
			setMaxListeners(0, init.signal);
		}
		if (typeof init?.body === "string" && init.body.includes('"method":"initialize"')) {
			this.initialized += 1;
		}
		const session = new Headers(init?.headers).get("mcp-session-id");
		if (session !== null) {
			this.sessions.add(session);
		}
		return fetch(url, init);
	};
}
