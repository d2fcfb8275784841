import { once } from "node:events";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { WebSocket } from "ws";
import { MAX_MESSAGE_BYTES, MAX_UNSENT_BYTES, ReadBudget } from "../core/limits.js";
import { parseMessage } from "../core/received.js";

/** MCP over a WebSocket that the gateway opens: one message in each text frame, subprotocol "mcp". The SDK has none with headers. */
export class WebSocketTransport implements Transport {
	onmessage?: (message: JSONRPCMessage) => void;
	onclose?: () => void;
	onerror?: (error: Error) => void;
	readonly #url: string;
	readonly #headers: Readonly<Record<string, string>>;
	readonly #budget = new ReadBudget();
	#socket: WebSocket | undefined;

	constructor(url: string, headers: Readonly<Record<string, string>>) {
		this.#url = url;
		this.#headers = headers;
	}

	async start(): Promise<void> {
		// Loaded on demand: most servers use another transport.
		const { WebSocket } = await import("ws");
		const socket = new WebSocket(this.#url, "mcp", { headers: this.#headers, maxPayload: MAX_MESSAGE_BYTES });
		this.#socket = socket;
		socket.on("message", (data) => {
			const text = data.toString();
			try {
				this.onmessage?.(parseMessage(text));
			} catch (error) {
				this.onerror?.(error as Error);
			}
			this.#budget.throttle(socket, text.length);
		});
		socket.on("close", () => this.onclose?.());
		socket.on("error", (error) => this.onerror?.(error));
		await once(socket, "open");
	}

	async send(message: JSONRPCMessage): Promise<void> {
		if (this.#socket === undefined || this.#socket.readyState !== this.#socket.OPEN) {
			throw new Error("the WebSocket is closed");
		}
		this.#socket.send(JSON.stringify(message));
		if (this.#socket.bufferedAmount > MAX_UNSENT_BYTES) {
			this.#socket.terminate();
		}
	}

	async close(): Promise<void> {
		this.#socket?.terminate();
	}
}
