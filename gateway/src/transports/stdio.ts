import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { clientInput } from "xs-mcp-manager/core";
import { followClient } from "../catalog/follow.js";
import type { Access } from "../config/access.js";
import { openClientServer } from "../mcp/client-server.js";
import type { Gateway } from "../mcp/gateway.js";

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
	const transport = new StdioServerTransport(clientInput());
	const onerror = (error: Error): void => void gateway.servers.emit("warning", `standard input: ${error.message}`);
	const handle = serveStdio(() => openClientServer(gateway, { access, server, onerror }), { transport, onerror });
	const listening = followClient(gateway.catalog(access, server), (problem) => onerror(new Error(problem)));
	const { onmessage } = transport;
	transport.onmessage = (message) => {
		listening.received(message);
		onmessage?.(message);
	};
	const closed = new Promise<void>((resolve) => {
		const { onclose } = transport;
		transport.onclose = () => {
			listening.close();
			onclose?.();
			resolve();
		};
	});
	return { closed, close: () => handle.close() };
}
