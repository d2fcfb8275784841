import { type Client, ProtocolError, type RequestOptions } from "@modelcontextprotocol/client";
import {
	type CallToolResult,
	isInputRequiredResult,
	ResourceNotFoundError,
	Server,
	type ServerContext,
} from "@modelcontextprotocol/server";
import { resultFor } from "../clients/contents.js";
import { GATEWAY_INFO } from "../version.js";
import { servePrompts } from "./bridge-prompts.js";
import { type Asking, inRevision, passOn, requestOptions, revisionOf, setLogLevel } from "./bridge-requests.js";
import { CONNECTION_LOST } from "./gateway-transport.js";

/** The gateway's end of a bridge, as the server at the client's end uses it. */
export interface GatewayEnd {
	/** A client of the gateway, in the stateless era; undefined until a gateway answers. */
	readonly client: Client | undefined;
	/** The client follows a resource from now on. Settles when that has been tried. */
	subscribe(uri: string): Promise<void>;
	unsubscribe(uri: string): void;
}

export const NO_GATEWAY = "No gateway is running yet.";

/** The MCP server at the client's end of a bridge: it asks the gateway, and answers in the client's revision. */
export function createBridgeServer(gateway: GatewayEnd): Server {
	const instructions = gateway.client?.getInstructions();
	const server = new Server(GATEWAY_INFO, {
		capabilities: {
			tools: { listChanged: true },
			resources: { listChanged: true, subscribe: true },
			prompts: { listChanged: true },
			completions: {},
			logging: {},
		},
		...(instructions !== undefined && { instructions }),
	});
	serveTools(server, gateway);
	serveResources(server, gateway);
	servePrompts(server, gateway);
	server.setRequestHandler("logging/setLevel", ({ params }) => {
		setLogLevel(server, params.level);
		return {};
	});
	return server;
}

function serveTools(server: Server, gateway: GatewayEnd): void {
	server.setRequestHandler("tools/list", async ({ params = {} }, context) => {
		const listed = await gateway.client?.request({ method: "tools/list", params }, requestOptions(context));
		return inRevision(server, listed ?? { tools: [] });
	});
	server.setRequestHandler("tools/call", async ({ params }, context) => {
		if (gateway.client === undefined) {
			return failed(`${NO_GATEWAY} The call was not carried out.`);
		}
		const { client } = gateway;
		const { name, arguments: args = {} } = params;
		const result = await passOn(server, context, (asking, options) =>
			call(client, { name, arguments: args, ...asking }, options),
		);
		return isInputRequiredResult(result)
			? result
			: server.projectCallToolResult(resultFor(result, revisionOf(server)), undefined);
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
		const { client } = gateway;
		if (client === undefined) {
			throw new ResourceNotFoundError(uri);
		}
		return await passOn(server, context, (asking, options) =>
			client.request({ method: "resources/read", params: { uri, ...asking } }, options),
		);
	};
	server.setRequestHandler("resources/read", ({ params }, context) => read(params.uri, context));
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

async function call(
	client: Client,
	params: { name: string; arguments: Record<string, unknown> } & Asking,
	options: RequestOptions,
): Promise<CallToolResult> {
	try {
		// Unlike request(), this sends the headers that a tool declares for its arguments.
		return await client.callTool(params, options);
	} catch (error) {
		if (ProtocolError.isInstance(error) && error.code !== CONNECTION_LOST) {
			throw error;
		}
		const { message } = error as Error;
		return failed(`The gateway did not answer: ${message}. The call may have been carried out, or not.`);
	}
}

function failed(text: string): CallToolResult {
	return { content: [{ type: "text", text }], isError: true };
}
