import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { Client, type Transport } from "@modelcontextprotocol/client";
import { type WebSocket, WebSocketServer } from "ws";

/** The official SDK's client over a WebSocket that carries bare JSON-RPC, as hosted agents have it. */
export async function connectOverWebSocket(test: TestContext, socket: WebSocket): Promise<Client> {
	const client = new Client({ name: "endpoint", version: "1.0.0" });
	await client.connect(new WebSocketTransport(socket));
	test.after(() => client.close());
	return client;
}

class WebSocketTransport implements Transport {
	onclose?: () => void;
	onmessage?: Transport["onmessage"];
	onerror?: (error: Error) => void;
	readonly #socket: WebSocket;

	constructor(socket: WebSocket) {
		this.#socket = socket;
	}

	async start(): Promise<void> {
		this.#socket.on("message", (data: Buffer) => this.onmessage?.(JSON.parse(data.toString())));
		this.#socket.on("error", (error) => this.onerror?.(error));
		this.#socket.on("close", () => this.onclose?.());
	}

	async send(message: Parameters<Transport["send"]>[0]): Promise<void> {
		this.#socket.send(JSON.stringify(message));
	}

	async close(): Promise<void> {
		this.#socket.close();
	}
}

/** An MCP endpoint: servers connect to it, and it is their client. */
export class McpEndpoint {
	readonly #server: WebSocketServer;

	private constructor(server: WebSocketServer) {
		this.#server = server;
	}

	static async listen(test: TestContext): Promise<McpEndpoint> {
		const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
		await once(server, "listening");
		test.after(() => {
			for (const socket of server.clients) {
				socket.terminate();
			}
			server.close();
		});
		return new McpEndpoint(server);
	}

	get url(): string {
		return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp/?token=secret`;
	}

	/** The client of the next server that connects. */
	async next(test: TestContext): Promise<Client> {
		const [socket] = (await once(this.#server, "connection")) as [WebSocket];
		return await connectOverWebSocket(test, socket);
	}
}
