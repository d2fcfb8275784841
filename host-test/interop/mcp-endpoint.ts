import { once } from "node:events";
import type { TestContext } from "node:test";
import { Client, type Transport } from "@modelcontextprotocol/client";
import { WebSocket } from "ws";
import { listenForSockets } from "../support/listen.js";

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
