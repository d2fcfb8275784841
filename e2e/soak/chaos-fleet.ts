// Devices that come back however they are cut off, and count what they carry out.
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { DEEP_JSON } from "./deep-server.js";

const CALL_TIME = 60;

const RETURN_TIME = 400;

const TOOLS = [
	{
		name: "self.echo",
		description: "Says what it is told.",
		inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
	},
];

class ChaosDevice {
	readonly #id: string;
	readonly #urls: readonly string[];
	readonly #carriedOut: (text: string) => void;
	#socket: WebSocket | undefined;
	#isClosed = false;

	constructor(id: string, urls: readonly string[], carriedOut: (text: string) => void) {
		this.#id = id;
		this.#urls = urls;
		this.#carriedOut = carriedOut;
		this.#connect();
	}

	#connect(): void {
		const url = this.#urls[Math.floor(Math.random() * this.#urls.length)] as string;
		const headers = { "device-id": this.#id, "client-id": this.#id, "protocol-version": "1" };
		const socket = new WebSocket(url, { headers, perMessageDeflate: false });
		this.#socket = socket;
		const hello = { type: "hello", version: 1, features: { mcp: true }, transport: "websocket" };
		socket.on("open", () => socket.send(JSON.stringify(hello)));
		socket.on("message", (data) => void this.#answer(socket, JSON.parse(String(data))));
		socket.on("error", () => socket.terminate());
		socket.on("close", () => void this.#return());
	}

	close(): void {
		this.#isClosed = true;
		this.#socket?.terminate();
	}

	async #return(): Promise<void> {
		await delay(Math.random() * RETURN_TIME);
		if (!this.#isClosed) {
			this.#connect();
		}
	}

	// biome-ignore lint/suspicious/noExplicitAny: whatever the gateway sends.
	async #answer(socket: WebSocket, { type, session_id, payload }: any): Promise<void> {
		if (type !== "mcp" || payload.id === undefined) {
			return;
		}
		const result = await this.#resultOf(payload);
		const head = `{"session_id":${JSON.stringify(session_id)},"type":"mcp"`;
		socket.send(`${head},"payload":{"jsonrpc":"2.0","id":${payload.id},"result":${result}}}`);
	}

	/** @returns JSON */
	// biome-ignore lint/suspicious/noExplicitAny: as above.
	async #resultOf({ method, params }: any): Promise<string> {
		if (method === "initialize") {
			const serverInfo = { name: "light", version: "1.0.0" };
			return JSON.stringify({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo });
		}
		if (method === "tools/list") {
			return JSON.stringify({ tools: TOOLS });
		}
		if (method !== "tools/call") {
			return "{}";
		}
		const { text } = params.arguments;
		this.#carriedOut(text);
		await delay(Math.random() * CALL_TIME);
		if (text.startsWith("deep")) {
			return `{"content":[{"type":"text","text":"deep"}],"structuredContent":${DEEP_JSON}}`;
		}
		return JSON.stringify({ content: [{ type: "text", text }], isError: false });
	}
}

export class ChaosFleet {
	/** How often a call was carried out, by its text. One that begins with "deep" is answered so deeply nested. */
	readonly carriedOut = new Map<string, number>();
	/** The names of their tools at the gateways. */
	readonly tools: readonly string[];
	readonly #devices: readonly ChaosDevice[];

	constructor(size: number, urls: readonly string[]) {
		const numbers = Array.from({ length: size }, (_, at) => (at + 1).toString(16).padStart(6, "0"));
		this.tools = numbers.map((digits) => `light_${digits}__self_echo`);
		this.#devices = numbers.map((digits) => {
			const id = `02:00:00:${digits.slice(0, 2)}:${digits.slice(2, 4)}:${digits.slice(4)}`;
			return new ChaosDevice(id, urls, this.count);
		});
	}

	readonly count = (text: string): void => void this.carriedOut.set(text, (this.carriedOut.get(text) ?? 0) + 1);

	close(): void {
		for (const device of this.#devices) {
			device.close();
		}
	}
}
