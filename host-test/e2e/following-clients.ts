import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { ERAS } from "../../gateway/test/support/gateway.js";

export interface FollowingClient {
	call(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
	list(): Promise<string[]>;
	readonly told: () => number;
}

const CLIENT_INFO = { name: "following-client", version: "1.0.0" };

/** Tries for longer than any outage; by default the SDK gives up after two attempts, that is 2.5 s. */
export const PATIENT = {
	initialReconnectionDelay: 1_000,
	maxReconnectionDelay: 5_000,
	reconnectionDelayGrowFactor: 1.5,
	maxRetries: 1_000_000,
};

const RELISTEN_DELAY = 500;

type Connect = (test: TestContext, url: string) => Promise<FollowingClient>;

export const FOLLOWING_CLIENTS: Readonly<Record<string, Connect>> = {
	"2026-07-28": connectStateless,
	"2025-11-25": (test, url) => connectSession(test, url, PATIENT),
	"the SDK's first generation": connectV1,
};

/** A client of 2026-07-28: after an outage it has to listen again, and to read what it has missed. */
async function connectStateless(test: TestContext, url: string): Promise<FollowingClient> {
	const client = new Client(CLIENT_INFO, ERAS["2026-07-28"]);
	const closing = new AbortController();
	test.after(async () => {
		closing.abort();
		await client.close();
	});
	let told = 0;
	client.setNotificationHandler("notifications/tools/list_changed", () => {
		told += 1;
	});
	await client.connect(new StreamableHTTPClientTransport(new URL(url)));
	let subscription = await client.listen({ toolsListChanged: true });
	void (async () => {
		while (!closing.signal.aborted) {
			await subscription.closed;
			subscription = await listenAgain(client, closing.signal, subscription);
			told += 1;
		}
	})();
	return { ...asFollowingClient(client), told: () => told };
}

type Subscription = Awaited<ReturnType<Client["listen"]>>;

async function listenAgain(client: Client, signal: AbortSignal, old: Subscription): Promise<Subscription> {
	while (!signal.aborted) {
		try {
			return await client.listen({ toolsListChanged: true });
		} catch {
			// The gateway does not answer yet.
			await delay(RELISTEN_DELAY);
		}
	}
	return old;
}

export async function connectSession(
	test: TestContext,
	url: string,
	reconnectionOptions?: typeof PATIENT,
): Promise<FollowingClient> {
	const client = new Client(CLIENT_INFO, ERAS["2025-11-25"]);
	test.after(() => client.close());
	let told = 0;
	client.setNotificationHandler("notifications/tools/list_changed", () => {
		told += 1;
	});
	const options = reconnectionOptions === undefined ? {} : { reconnectionOptions };
	await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
	return { ...asFollowingClient(client), told: () => told };
}

async function connectV1(test: TestContext, url: string): Promise<FollowingClient> {
	const client = new ClientV1(CLIENT_INFO);
	test.after(() => client.close());
	let told = 0;
	client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
		told += 1;
	});
	await client.connect(new TransportV1(new URL(url), { reconnectionOptions: PATIENT }));
	return {
		call: (name, args = {}) => client.callTool({ name, arguments: args }),
		list: async () => (await client.listTools()).tools.map(({ name }) => name),
		told: () => told,
	};
}

function asFollowingClient(client: Client): Omit<FollowingClient, "told"> {
	return {
		call: (name, args = {}) => client.callTool({ name, arguments: args }),
		async list() {
			const { tools } = await client.listTools(undefined, { cacheMode: "refresh" });
			return tools.map(({ name }) => name);
		},
	};
}
