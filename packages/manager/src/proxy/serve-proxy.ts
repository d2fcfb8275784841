import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { clientInput } from "../core/line-reader.js";
import { readableError } from "../core/received.js";
import { MANAGER_INFO } from "../version.js";
import { type McpProxy, makeProxy } from "./mcp-proxy.js";
import type { ProxyOptions } from "./proxy-options.js";

const CAPABILITIES = { tools: { listChanged: true }, resources: { listChanged: true }, prompts: { listChanged: true } };

/** The notification for each changed list. Templates change with resources. */
const TELL_CHANGED = {
	tools: (server: Server) => server.sendToolListChanged(),
	resources: (server: Server) => server.sendResourceListChanged(),
	resourceTemplates: async () => {},
	prompts: (server: Server) => server.sendPromptListChanged(),
};

/**
 * Serves an upstream's tools, resources and prompts to the host at the other end of this process's standard input and output, until it disconnects.
 */
export async function serveProxy(options: ProxyOptions, report: (error: Error) => void): Promise<void> {
	const proxy = makeProxy(options);
	/** More than one while the host negotiates the revision. */
	const servers = new Set<Server>();
	const open = (): Server => {
		const server = createServer(proxy, options.name);
		servers.add(server);
		server.onclose = () => servers.delete(server);
		return server;
	};
	proxy.upstream.on("listChanged", (list) => {
		for (const server of servers) {
			TELL_CHANGED[list](server).catch(report);
		}
	});
	proxy.upstream.on("warning", (message) => report(new Error(message)));
	const transport = new StdioServerTransport(clientInput());
	const { send } = transport;
	transport.send = (message) =>
		send.call(transport, "error" in message ? { ...message, error: readableError(message.error) } : message);
	const handle = serveStdio(open, { transport, onerror: report });
	await untilDisconnected(transport);
	await proxy.upstream.disconnect("the host has disconnected");
	await handle.close();
}

function createServer(proxy: McpProxy, name: string): Server {
	const { instructions } = proxy;
	const server = new Server(
		{ name, version: MANAGER_INFO.version },
		{ capabilities: CAPABILITIES, ...(instructions !== undefined && { instructions }) },
	);
	server.setRequestHandler("tools/list", async () => ({ tools: await proxy.listTools() }));
	server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
		const progressToken = mcpReq._meta?.progressToken;
		const onProgress = (progress: object): void => {
			// A host that has disconnected needs no progress.
			void mcpReq
				.notify({ method: "notifications/progress", params: { progress: 0, ...progress, progressToken } as never })
				.catch(() => {});
		};
		return await proxy.callTool(params.name, params.arguments ?? {}, {
			signal: mcpReq.signal,
			...(progressToken !== undefined && { onProgress }),
		});
	});
	server.setRequestHandler("resources/list", async () => ({ resources: [...(await proxy.list("resources"))] }));
	server.setRequestHandler("resources/templates/list", async () => ({
		resourceTemplates: [...(await proxy.list("resourceTemplates"))],
	}));
	server.setRequestHandler("prompts/list", async () => ({ prompts: [...(await proxy.list("prompts"))] }));
	server.setRequestHandler("resources/read", ({ params: { uri } }, { mcpReq: { signal } }) =>
		proxy.request({ method: "resources/read", params: { uri } }, { signal }),
	);
	server.setRequestHandler("prompts/get", ({ params }, { mcpReq: { signal } }) =>
		proxy.request({ method: "prompts/get", params }, { signal }),
	);
	return server;
}

/** Settles when the client at standard input and output has disconnected. Call it once the client is served. */
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
