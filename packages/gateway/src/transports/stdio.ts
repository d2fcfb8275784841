import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { clientInput } from "xs-mcp-manager/core";
import type { Access } from "../config/access.js";
import type { GatewayError } from "../gateway-error.js";
import { Client, openClient } from "../mcp/client.js";
import { type Channel, readStateless } from "../mcp/client-request.js";
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
	const wire = new StdioServerTransport(clientInput());
	const warn = ({ message }: Error): void => void gateway.servers.emit("warning", `standard input: ${message}`);
	const channel: Channel = { send: (message) => void wire.send(message).catch(warn) };
	const catalog = gateway.catalog(access, server);
	// Each message since 2026-07-28 names its revision. The others are of a session.
	const session = openClient(gateway, catalog, channel);
	const stateless = new Client(gateway, catalog, channel, true);
	wire.onmessage = (message) => {
		if ("method" in message && !("id" in message)) {
			session.receive(message);
			stateless.receive(message);
			return;
		}
		try {
			const isStateless = readStateless(message) !== undefined;
			(isStateless ? stateless : session).receive(message);
		} catch (error) {
			channel.send((error as GatewayError).response as JSONRPCMessage);
		}
	};
	const closed = new Promise<void>((resolve) => {
		wire.onclose = () => {
			session.close();
			stateless.close();
			resolve();
		};
	});
	wire.onerror = warn;
	wire.start().catch(warn);
	return { closed, close: () => wire.close() };
}
