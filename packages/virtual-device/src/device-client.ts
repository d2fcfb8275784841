import { randomBytes } from "node:crypto";
import { isIPv6 } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import getPort from "get-port";
import type { HttpAddress } from "./options.js";

/** Settings with which a device serves MCP clients directly. */
interface ServedAt extends HttpAddress {
	readonly httpToken?: string | undefined;
}

/** A free port of this machine, with a token that only this process has. */
export async function ownAddress(): Promise<{ http: HttpAddress; httpToken: string }> {
	const httpAddress = "127.0.0.1";
	const http = await getPort({ host: httpAddress });
	return { http: { http, httpAddress }, httpToken: randomBytes(16).toString("hex") };
}

/**
 * Connects an MCP client to a virtual device, without a backend, on first use. The returned function rejects with
 * Error if the device serves no clients now: it may be offline, or restarting.
 *
 * @param served undefined: the device is being set up, and serves no clients
 * @param isPerson whether the client also lists the tools that only people may call
 */
export function deviceClient(served: ServedAt | undefined, isPerson = false): () => Promise<Client> {
	let client: Promise<Client> | undefined;
	return async () => {
		if (served === undefined) {
			throw new Error("a device that is set up has no tools: start it without --setup");
		}
		client ??= connectPatiently(served, isPerson ? PersonsClient : Client);
		try {
			return await client;
		} catch (error) {
			client = undefined;
			throw new Error("the device does not answer: it is offline, or starts", { cause: error });
		}
	};
}

/** Milliseconds between attempts, and how many there are: a device that has just started is not online yet. */
const RETRY_DELAY = 20;
const MAX_ATTEMPTS = 250;

async function connectPatiently(served: ServedAt, Kind: typeof Client): Promise<Client> {
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await connect(served, Kind);
		} catch (error) {
			if (attempt === MAX_ATTEMPTS) {
				throw error;
			}
			await delay(RETRY_DELAY);
		}
	}
}

class PersonsClient extends Client {
	override async listTools(...[params, options]: Parameters<Client["listTools"]>) {
		return await super.listTools({ ...params, withUserTools: true } as typeof params, options);
	}
}

async function connect({ http, httpAddress, httpToken }: ServedAt, Kind: typeof Client): Promise<Client> {
	const host = isIPv6(httpAddress) ? `[${httpAddress}]` : httpAddress;
	const client = new Kind({ name: "virtual-device", version: "1.0.0" }, { versionNegotiation: { mode: "legacy" } });
	const transport = new StreamableHTTPClientTransport(new URL(`http://${host}:${http}/mcp`), {
		requestInit: { headers: httpToken === undefined ? {} : { Authorization: `Bearer ${httpToken}` } },
		// A device has no stream for notifications. Requests for it would appear in its log as rejected.
		fetch: async (url, init) => (init?.method === "GET" ? new Response(null, { status: 405 }) : await fetch(url, init)),
	});
	await client.connect(transport);
	return client;
}
