import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Gateway } from "../gateway.js";
import type { Access } from "./access.js";
import type { Catalog } from "./catalog.js";
import { ClientServer } from "./client-server.js";

/** A client at the other end of this process's standard input and output. */
export interface StdioClient {
	/** Settles when the client has disconnected, or {@link close} was called. */
	readonly closed: Promise<void>;
	close(): Promise<void>;
}

/**
 * Serves MCP to the program that started this process, whatever its revision. Nothing else may be written to the output.
 *
 * @param server alias or id: only this server's tools. It may become known later.
 */
export function serveOverStdio(gateway: Gateway, access: Access, server?: string): StdioClient {
	const catalog = gateway.catalog(access, server);
	const transport = new StdioServerTransport();
	const onerror = (error: Error): void => void gateway.servers.emit("warning", `standard input: ${error.message}`);
	const open = (): ClientServer =>
		announcing(new ClientServer({ principal: access.principal, catalog }), catalog, onerror);
	const handle = serveStdio(open, { transport, onerror });
	const closed = new Promise<void>((resolve) => {
		const { onclose } = transport;
		transport.onclose = () => {
			onclose?.();
			resolve();
		};
	});
	return { closed, close: () => handle.close() };
}

/** Tells the client of changes as long as its server is connected. */
function announcing(server: ClientServer, catalog: Catalog, onerror: (error: Error) => void): ClientServer {
	const end = catalog.onChange((change) => void server.announce(change).catch(onerror));
	server.server.onclose = end;
	return server;
}
