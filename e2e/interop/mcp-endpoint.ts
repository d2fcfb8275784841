import { createCipheriv } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Client, type Transport } from "@modelcontextprotocol/client";
import { WebSocket } from "ws";
import { freePort, listenForSockets, temporaryFolder } from "../../host-test/support/testing.js";
import { startPython } from "./python.js";

async function connectClient(test: TestContext, socket: WebSocket): Promise<Client> {
	const client = new Client({ name: "endpoint", version: "1.0.0" });
	await client.connect(new WebSocketTransport(socket));
	test.after(() => client.close());
	return client;
}

export async function connectAgent(test: TestContext, url: string): Promise<Client> {
	const socket = new WebSocket(url);
	await once(socket, "open");
	return await connectClient(test, socket);
}

/** Bare JSON-RPC over a WebSocket. Ids are counted from 1: xinnan-tech's relay takes 0 for no id. */
class WebSocketTransport implements Transport {
	onclose?: () => void;
	onmessage?: Transport["onmessage"];
	onerror?: (error: Error) => void;
	readonly #socket: WebSocket;

	constructor(socket: WebSocket) {
		this.#socket = socket;
	}

	async start(): Promise<void> {
		this.#socket.on("message", (data: Buffer) => {
			const message = JSON.parse(data.toString());
			const isResponse = message.method === undefined && typeof message.id === "number";
			this.onmessage?.(isResponse ? { ...message, id: message.id - 1 } : message);
		});
		this.#socket.on("error", (error) => this.onerror?.(error));
		this.#socket.on("close", () => this.onclose?.());
	}

	async send(message: Parameters<Transport["send"]>[0]): Promise<void> {
		const isRequest = "method" in message && "id" in message && typeof message.id === "number";
		this.#socket.send(JSON.stringify(isRequest ? { ...message, id: (message.id as number) + 1 } : message));
	}

	async close(): Promise<void> {
		this.#socket.close();
	}
}

export async function openMcpEndpoint(test: TestContext) {
	const { server, url } = await listenForSockets(test);
	return {
		url: `${url}mcp/?token=secret`,
		async next(): Promise<Client> {
			const [socket] = (await once(server, "connection")) as [WebSocket];
			return await connectClient(test, socket);
		},
	};
}

/** The server makes another one if this is shorter than 32 characters. */
const KEY = "interop-interop-interop-interop-";

export async function startMcpEndpointServer(test: TestContext, checkout: string) {
	const folder = temporaryFolder();
	const port = await freePort();
	mkdirSync(join(folder, "data"));
	const config = `[server]\nhost = 127.0.0.1\nport = ${port}\nkey = ${KEY}\n[security]\nallowed_origins = *\n`;
	writeFileSync(join(folder, "data", ".mcp-endpoint-server.cfg"), config);
	const args = [join(checkout, "main.py")];
	await startPython(test, args, (output) => output.includes("startup complete"), { cwd: folder });
	const cipher = createCipheriv("aes-256-ecb", KEY, null);
	const token = cipher.update('{"agentId":"interop"}', "utf8", "base64") + cipher.final("base64");
	const urlOf = (side: string): string =>
		`ws://127.0.0.1:${port}/mcp_endpoint/${side}/?token=${encodeURIComponent(token)}`;
	return { toolUrl: urlOf("mcp"), agentUrl: urlOf("call") };
}
