import {
	type JSONRPCMessage,
	PROTOCOL_VERSION_META_KEY,
	type Transport,
	UnsupportedProtocolVersionError,
} from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { clientInput, REVISION_OF_STATELESS } from "xs-mcp-manager/core";
import type { Access } from "../config/access.js";
import { ClientServer, openClientServer } from "../mcp/client-server.js";
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
	const onerror = (error: Error): void => void gateway.servers.emit("warning", `standard input: ${error.message}`);
	/** The messages of a session, and those that each name their revision. */
	const channels: { session?: Transport; stateless?: Transport } = {};
	const open = (client: ClientServer): Transport => {
		const channel: Transport = {
			start: async () => {},
			send: (message) => wire.send(message),
			close: () => wire.close(),
		};
		client.onerror = onerror;
		// The channel starts at once.
		void client.connect(channel);
		return channel;
	};
	const receive = (message: JSONRPCMessage): void => {
		const { id, method, params } = message as { id?: unknown; method?: string; params?: { _meta?: object } };
		const revision = (params?._meta as Record<string, unknown> | undefined)?.[PROTOCOL_VERSION_META_KEY];
		if (method === "notifications/cancelled") {
			channels.session?.onmessage?.(message);
			channels.stateless?.onmessage?.(message);
		} else if (revision === undefined) {
			channels.session ??= open(openClientServer(gateway, { access, server, onerror }));
			channels.session.onmessage?.(message);
		} else if (revision === REVISION_OF_STATELESS) {
			const options = { revision };
			channels.stateless ??= open(new ClientServer(gateway, gateway.catalog(access, server), options));
			channels.stateless.onmessage?.(message);
		} else if (id !== undefined) {
			const error = new UnsupportedProtocolVersionError({
				supported: [REVISION_OF_STATELESS],
				requested: `${revision}`,
			});
			const { code, message: text, data } = error;
			void wire.send({ jsonrpc: "2.0", id, error: { code, message: text, data } } as JSONRPCMessage).catch(onerror);
		}
	};
	const closed = new Promise<void>((resolve) => {
		wire.onclose = () => {
			channels.session?.onclose?.();
			channels.stateless?.onclose?.();
			resolve();
		};
	});
	wire.onerror = onerror;
	wire.onmessage = receive;
	wire.start().catch(onerror);
	return { closed, close: () => wire.close() };
}
