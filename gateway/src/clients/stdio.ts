import type { Readable, Writable } from "node:stream";
import type { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Gateway } from "../gateway.js";
import type { Access } from "./access.js";
import { createHostServer } from "./client-server.js";

export interface StdioOptions {
	/** Default: this process's. */
	readonly input?: Readable;
	readonly output?: Writable;
}

/** A host at the other end of this process's standard input and output. */
export interface StdioHost {
	/** Settles when the host is gone, or {@link close} was called. */
	readonly closed: Promise<void>;
	close(): Promise<void>;
}

/**
 * Serves MCP to the host that started this process, whatever its revision. Nothing else may be written to the output.
 *
 * @param device alias or id: only this device's tools. It may come later.
 */
export function serveOverStdio(
	gateway: Gateway,
	access: Access,
	device?: string,
	{ input = process.stdin, output = process.stdout }: StdioOptions = {},
): StdioHost {
	const scope = gateway.scope(access, device);
	const transport = new StdioServerTransport(input, output);
	const onerror = (error: Error): void => void gateway.emit("warning", `standard input: ${error.message}`);
	const handle = serveStdio(
		() => announcing(gateway, createHostServer(gateway, { principal: access.principal, scope }), () => scope.tools),
		{ transport, onerror },
	);
	const closed = new Promise<void>((resolve) => {
		const { onclose } = transport;
		transport.onclose = () => {
			onclose?.();
			resolve();
		};
	});
	return { closed, close: () => handle.close() };
}

/** Tells the host of changes as long as its server is connected. */
function announcing(gateway: Gateway, server: Server, tools: () => unknown): Server {
	let announced = tools();
	const announce = (): void => {
		if (announced !== tools()) {
			announced = tools();
			server.sendToolListChanged().catch((error: Error) => gateway.emit("warning", error.message));
		}
	};
	gateway.on("toolsChanged", announce);
	server.onclose = () => gateway.off("toolsChanged", announce);
	return server;
}
