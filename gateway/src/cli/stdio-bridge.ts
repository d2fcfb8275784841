import { setTimeout as delay } from "node:timers/promises";
import { type Client, ProtocolError, type RequestOptions } from "@modelcontextprotocol/client";
import { type CallToolResult, Server, type ServerContext } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { GATEWAY_INFO } from "../version.js";

/** Longer than a gateway lets a request take: it is the gateway that gives up. */
const REQUEST_TIMEOUT = 86_400_000;

/** Milliseconds between attempts to hear of changes again, when the gateway was away. */
const RELISTEN_DELAY = 1_000;

/**
 * Serves the host that started this process what a running gateway has: tools are listed and called there. The host's
 * revision and the gateway's need not be the same, and the gateway may restart meanwhile.
 *
 * @param client connected to the gateway, in the stateless era; closed with the bridge
 * @returns a promise that settles when the host is gone
 */
export async function bridgeStdio(client: Client, onerror: (error: Error) => void): Promise<void> {
	const servers = new Set<Server>();
	const transport = new StdioServerTransport();
	const closing = new AbortController();
	const handle = serveStdio(() => createBridgeServer(client, servers), { transport, onerror });
	const hostGone = new Promise<void>((resolve) => {
		const { onclose } = transport;
		transport.onclose = () => {
			onclose?.();
			resolve();
		};
		// A host that is gone cannot be written to.
		process.stdout.on("error", () => resolve());
	});
	const announce = (): void => {
		for (const server of servers) {
			server.sendToolListChanged().catch(onerror);
		}
	};
	client.setNotificationHandler("notifications/tools/list_changed", announce);
	const following = follow(client, announce, closing.signal);
	await hostGone;
	closing.abort();
	await following;
	await handle.close();
	await client.close();
}

function createBridgeServer(client: Client, servers: Set<Server>): Server {
	const instructions = client.getInstructions();
	const server = new Server(GATEWAY_INFO, {
		capabilities: { tools: { listChanged: true } },
		...(instructions !== undefined && { instructions }),
	});
	server.setRequestHandler("tools/list", async ({ params }, { mcpReq }) => {
		const options = { signal: mcpReq.signal, timeout: REQUEST_TIMEOUT };
		return await client.request({ method: "tools/list", params: { ...params } }, options);
	});
	server.setRequestHandler("tools/call", async ({ params: { name, arguments: args } }, context) => {
		try {
			return await client.request({ method: "tools/call", params: { name, arguments: args } }, callOptions(context));
		} catch (error) {
			if (ProtocolError.isInstance(error)) {
				throw error;
			}
			return unreachable(error as Error);
		}
	});
	servers.add(server);
	server.onclose = () => servers.delete(server);
	return server;
}

/** Cancellation and progress, passed through. */
function callOptions({ mcpReq }: ServerContext): RequestOptions {
	const { signal, _meta } = mcpReq;
	const progressToken = _meta?.progressToken;
	const options = { signal, timeout: REQUEST_TIMEOUT };
	return progressToken === undefined
		? options
		: {
				...options,
				onprogress: (progress) => {
					// A host that is gone needs no progress.
					mcpReq.notify({ method: "notifications/progress", params: { ...progress, progressToken } }).catch(() => {});
				},
			};
}

function unreachable(error: Error): CallToolResult {
	const text = `The gateway did not answer: ${error.message}. The call may have been carried out, or not.`;
	return { content: [{ type: "text", text }], isError: true };
}

/** Hears of changes as long as the bridge lives. What changed while the gateway was away is a change too. */
async function follow(client: Client, announce: () => void, signal: AbortSignal): Promise<void> {
	let wasLost = false;
	while (!signal.aborted) {
		try {
			const subscription = await client.listen({ toolsListChanged: true }, { signal });
			if (wasLost) {
				announce();
			}
			await subscription.closed;
		} catch {
			// Not there yet: calls say so, and this tries again.
		}
		wasLost = true;
		await delay(RELISTEN_DELAY, undefined, { signal }).catch(() => {});
	}
}
