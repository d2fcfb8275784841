import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { ERAS } from "../../gateway/test/support/gateway.js";

/** A host that keeps its connection, and hears when tools have changed. */
export interface FollowingHost {
	/** Calls a tool. Rejects as the SDK's client does. */
	call(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>;
	/** The names of its tools, asked for anew. */
	list(): Promise<string[]>;
	/** How often it had reason to ask for its tools again. */
	readonly told: () => number;
}

const HOST = { name: "following-host", version: "1.0.0" };

/** Tries for as long as a network may be away; by default the SDK gives up after two attempts, that is 2.5 s. */
const PATIENT = {
	initialReconnectionDelay: 1_000,
	maxReconnectionDelay: 5_000,
	reconnectionDelayGrowFactor: 1.5,
	maxRetries: 1_000,
};

/** Milliseconds between attempts to listen again. */
const RELISTEN_DELAY = 500;

type Connect = (test: TestContext, url: string) => Promise<FollowingHost>;

/** Hosts of every revision with the official SDK's clients, as they have to be made to get over an outage. */
export const FOLLOWING_HOSTS: Readonly<Record<string, Connect>> = {
	"2026-07-28": connectStateless,
	"2025-11-25": (test, url) => connectSession(test, url, PATIENT),
	"the SDK's first generation": connectV1,
};

/** A host of 2026-07-28: after an outage it has to listen again, and to ask for what it has missed. */
async function connectStateless(test: TestContext, url: string): Promise<FollowingHost> {
	const client = new Client(HOST, ERAS["2026-07-28"]);
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
	return { ...asHost(client), told: () => told };
}

type Subscription = Awaited<ReturnType<Client["listen"]>>;

async function listenAgain(client: Client, signal: AbortSignal, old: Subscription): Promise<Subscription> {
	while (!signal.aborted) {
		try {
			return await client.listen({ toolsListChanged: true });
		} catch {
			// Not there yet.
			await delay(RELISTEN_DELAY);
		}
	}
	return old;
}

/** A host of 2025-11-25. Without options it does as the SDK does by itself. */
export async function connectSession(
	test: TestContext,
	url: string,
	reconnectionOptions?: typeof PATIENT,
): Promise<FollowingHost> {
	const client = new Client(HOST, ERAS["2025-11-25"]);
	test.after(() => client.close());
	let told = 0;
	client.setNotificationHandler("notifications/tools/list_changed", () => {
		told += 1;
	});
	const options = reconnectionOptions === undefined ? {} : { reconnectionOptions };
	await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
	return { ...asHost(client), told: () => told };
}

async function connectV1(test: TestContext, url: string): Promise<FollowingHost> {
	const client = new ClientV1(HOST);
	test.after(() => client.close());
	let told = 0;
	client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
		told += 1;
	});
	// The SDK's own types disagree under exactOptionalPropertyTypes.
	await client.connect(new TransportV1(new URL(url), { reconnectionOptions: PATIENT }) as never);
	return {
		call: (name, args = {}) => client.callTool({ name, arguments: args }),
		list: async () => (await client.listTools()).tools.map(({ name }) => name),
		told: () => told,
	};
}

function asHost(client: Client): Omit<FollowingHost, "told"> {
	return {
		call: (name, args = {}) => client.callTool({ name, arguments: args }),
		async list() {
			const { tools } = await client.listTools(undefined, { cacheMode: "refresh" });
			return tools.map(({ name }) => name);
		},
	};
}
