import { setTimeout as delay } from "node:timers/promises";
import { type Client, ProtocolError, type RequestOptions } from "@modelcontextprotocol/client";
import { type CallToolResult, Server, type ServerContext } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { GATEWAY_INFO } from "../version.js";
import { CONNECTION_LOST, PATIENCE } from "./gateway-transport.js";

/** Milliseconds between attempts to follow the gateway's changes again after the connection was lost. */
const RELISTEN_DELAY = 1_000;

/** The gateway's end of a bridge. */
interface GatewayEnd {
	/** Undefined until a gateway answers. */
	client: Client | undefined;
}

/**
 * Connects the client that started this process to a running gateway: tools are listed and called there. The client's
 * revision and the gateway's may differ, and the gateway may start later, and restart. Rejects if `connecting` does.
 *
 * @param connecting a client of the gateway, in the stateless era; closed with the bridge
 * @returns a promise that settles when the client disconnects
 */
export async function bridgeStdio(connecting: Promise<Client>, onerror: (error: Error) => void): Promise<void> {
	const servers = new Set<Server>();
	const gateway: GatewayEnd = { client: undefined };
	const transport = new StdioServerTransport();
	const closing = new AbortController();
	const announce = (): void => {
		for (const server of servers) {
			server.sendToolListChanged().catch(onerror);
		}
	};
	const handle = serveStdio(() => createBridgeServer(gateway, servers), { transport, onerror });
	const disconnected = untilDisconnected(transport);
	const following = connecting.then(async (client) => {
		gateway.client = client;
		client.setNotificationHandler("notifications/tools/list_changed", announce);
		announce();
		await follow(client, announce, closing.signal);
	});
	await Promise.race([disconnected, following.then(() => disconnected)]);
	closing.abort();
	await handle.close();
	await gateway.client?.close();
}

/** Settles when nobody is at the other end of standard input and output any more. */
function untilDisconnected(transport: StdioServerTransport): Promise<void> {
	return new Promise((resolve) => {
		const { onclose } = transport;
		transport.onclose = () => {
			onclose?.();
			resolve();
		};
		process.stdout.on("error", () => resolve());
	});
}

function createBridgeServer(gateway: GatewayEnd, servers: Set<Server>): Server {
	const instructions = gateway.client?.getInstructions();
	const server = new Server(GATEWAY_INFO, {
		capabilities: { tools: { listChanged: true } },
		...(instructions !== undefined && { instructions }),
	});
	server.setRequestHandler("tools/list", async ({ params }, { mcpReq }) => {
		if (gateway.client === undefined) {
			return { tools: [] };
		}
		const options = { ...PATIENCE, signal: mcpReq.signal };
		return await gateway.client.request({ method: "tools/list", params: { ...params } }, options);
	});
	server.setRequestHandler("tools/call", async ({ params }, context) => {
		if (gateway.client === undefined) {
			return failed("No gateway is running yet. The call was not carried out.");
		}
		return await call(gateway.client, { name: params.name, arguments: params.arguments }, context);
	});
	servers.add(server);
	server.onclose = () => servers.delete(server);
	return server;
}

async function call(
	client: Client,
	params: { name: string; arguments: Record<string, unknown> | undefined },
	context: ServerContext,
): Promise<CallToolResult> {
	try {
		return await client.request({ method: "tools/call", params }, callOptions(context));
	} catch (error) {
		if (ProtocolError.isInstance(error) && error.code !== CONNECTION_LOST) {
			throw error;
		}
		const { message } = error as Error;
		return failed(`The gateway did not answer: ${message}. The call may have been carried out, or not.`);
	}
}

/** Cancellation and progress, passed through. */
function callOptions({ mcpReq }: ServerContext): RequestOptions {
	const { signal, _meta } = mcpReq;
	const progressToken = _meta?.progressToken;
	const options = { ...PATIENCE, signal };
	return progressToken === undefined
		? options
		: {
				...options,
				onprogress: (progress) => {
					// A client that has disconnected needs no progress.
					mcpReq.notify({ method: "notifications/progress", params: { ...progress, progressToken } }).catch(() => {});
				},
			};
}

function failed(text: string): CallToolResult {
	return { content: [{ type: "text", text }], isError: true };
}

/** Announces changes until it is stopped. After the connection was lost, anything may have changed. */
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
			// The gateway is not running: calls say so, and this tries again.
		}
		wasLost = true;
		await delay(RELISTEN_DELAY, undefined, { signal }).catch(() => {});
	}
}
