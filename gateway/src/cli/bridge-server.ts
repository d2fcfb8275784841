import { type Client, ProtocolError, type RequestOptions } from "@modelcontextprotocol/client";
import { type CallToolResult, ResourceNotFoundError, Server, type ServerContext } from "@modelcontextprotocol/server";
import { resultFor } from "../clients/contents.js";
import { GATEWAY_INFO } from "../version.js";
import { CONNECTION_LOST, PATIENCE } from "./gateway-transport.js";

/** The gateway's end of a bridge, as the server at the client's end uses it. */
export interface GatewayEnd {
	/** A client of the gateway, in the stateless era; undefined until a gateway answers. */
	readonly client: Client | undefined;
	/** The client follows a resource from now on. Settles when that has been tried. */
	subscribe(uri: string): Promise<void>;
	unsubscribe(uri: string): void;
}

/** The first revision of the stateless era. */
const STATELESS = "2026-07-28";

/** What that revision puts into results, and the names in `_meta` that MCP keeps for itself. */
const STATELESS_MEMBERS: ReadonlySet<string> = new Set(["resultType", "ttlMs", "cacheScope"]);
const RESERVED_META = "io.modelcontextprotocol/";

/** The MCP server at the client's end of a bridge: it asks the gateway, and answers in the client's revision. */
export function createBridgeServer(gateway: GatewayEnd): Server {
	const instructions = gateway.client?.getInstructions();
	const server = new Server(GATEWAY_INFO, {
		capabilities: { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true } },
		...(instructions !== undefined && { instructions }),
	});
	serveTools(server, gateway);
	serveResources(server, gateway);
	return server;
}

function serveTools(server: Server, gateway: GatewayEnd): void {
	server.setRequestHandler("tools/list", async ({ params = {} }, context) => {
		const listed = await gateway.client?.request({ method: "tools/list", params }, requestOptions(context));
		return inRevision(server, listed ?? { tools: [] });
	});
	server.setRequestHandler("tools/call", async ({ params }, context) => {
		if (gateway.client === undefined) {
			return failed("No gateway is running yet. The call was not carried out.");
		}
		const result = await call(gateway.client, { name: params.name, arguments: params.arguments ?? {} }, context);
		return server.projectCallToolResult(resultFor(inRevision(server, result), revisionOf(server)), undefined);
	});
}

function serveResources(server: Server, gateway: GatewayEnd): void {
	server.setRequestHandler("resources/list", async ({ params = {} }, context) => {
		const listed = await gateway.client?.request({ method: "resources/list", params }, requestOptions(context));
		return inRevision(server, listed ?? { resources: [] });
	});
	server.setRequestHandler("resources/templates/list", async ({ params = {} }, context) => {
		const request = { method: "resources/templates/list", params } as const;
		const listed = await gateway.client?.request(request, requestOptions(context));
		return inRevision(server, listed ?? { resourceTemplates: [] });
	});
	const read = async (uri: string, context: ServerContext) => {
		if (gateway.client === undefined) {
			throw new ResourceNotFoundError(uri);
		}
		return await gateway.client.request({ method: "resources/read", params: { uri } }, requestOptions(context));
	};
	server.setRequestHandler("resources/read", async ({ params }, context) =>
		inRevision(server, await read(params.uri, context)),
	);
	server.setRequestHandler("resources/subscribe", async ({ params }, context) => {
		// The stateless era accepts subscriptions to resources that do not exist.
		await read(params.uri, context);
		await gateway.subscribe(params.uri);
		return {};
	});
	server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
		gateway.unsubscribe(params.uri);
		return {};
	});
}

/** A result, or a notification's parameters, of the gateway, without what the client's revision does not have. */
export function inRevision<Result extends object>(server: Server, result: Result): Result {
	if (revisionOf(server) >= STATELESS) {
		return result;
	}
	const { _meta, ...rest } = result as { _meta?: Record<string, unknown> };
	const members = Object.entries(rest).filter(([name]) => !STATELESS_MEMBERS.has(name));
	const meta = Object.entries(_meta ?? {}).filter(([name]) => !name.startsWith(RESERVED_META));
	return { ...Object.fromEntries(members), ...(meta.length > 0 && { _meta: Object.fromEntries(meta) }) } as Result;
}

function revisionOf(server: Server): string {
	return server.getNegotiatedProtocolVersion() ?? "";
}

async function call(
	client: Client,
	params: { name: string; arguments: Record<string, unknown> },
	context: ServerContext,
): Promise<CallToolResult> {
	try {
		// Unlike request(), this sends the headers that a tool declares for its arguments.
		return await client.callTool(params, requestOptions(context));
	} catch (error) {
		if (ProtocolError.isInstance(error) && error.code !== CONNECTION_LOST) {
			throw error;
		}
		const { message } = error as Error;
		return failed(`The gateway did not answer: ${message}. The call may have been carried out, or not.`);
	}
}

/** Cancellation and progress, passed through. */
function requestOptions({ mcpReq }: ServerContext): RequestOptions {
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
