import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { untilDisconnected } from "../core/until-disconnected.js";
import { MANAGER_INFO } from "../version.js";
import type { ProxyOptions } from "./proxy-options.js";
import { ToolProxy } from "./tool-proxy.js";

/**
 * Serves an upstream's tools to the host at the other end of this process's standard input and output, until it disconnects.
 */
export async function serveProxy(options: ProxyOptions, report: (error: Error) => void): Promise<void> {
	const proxy = new ToolProxy(options);
	/** More than one while the host finds out which revision to speak. */
	const servers = new Set<Server>();
	const open = (): Server => {
		const server = createServer(proxy, options.name);
		servers.add(server);
		server.onclose = () => servers.delete(server);
		return server;
	};
	proxy.on("toolsChanged", () => {
		for (const server of servers) {
			server.sendToolListChanged().catch(report);
		}
	});
	const transport = new StdioServerTransport();
	const handle = serveStdio(open, { transport, onerror: report });
	await untilDisconnected(transport);
	await proxy.close();
	await handle.close();
}

function createServer(proxy: ToolProxy, name: string): Server {
	const { instructions } = proxy;
	const server = new Server(
		{ name, version: MANAGER_INFO.version },
		{ capabilities: { tools: { listChanged: true } }, ...(instructions !== undefined && { instructions }) },
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
	return server;
}
