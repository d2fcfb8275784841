// An MCP endpoint of the family, made with `ws` alone: gateways connect to it, and it asks them as an agent's backend does.
import type { TestContext } from "node:test";
import type { WebSocket, WebSocketServer } from "ws";
import { listenForSockets, until } from "../../../host-test/support/testing.js";

export interface Answer {
	readonly id?: unknown;
	readonly method?: string;
	// biome-ignore lint/suspicious/noExplicitAny: tests read members that may not be there, and fail if they are not.
	readonly result?: any;
	readonly error?: { readonly code: number; readonly message: string };
	readonly bytes: number;
}

export class EndpointPeer {
	readonly #server: WebSocketServer;
	readonly url: string;
	readonly connections: string[] = [];
	readonly received: Answer[] = [];
	#socket: WebSocket | undefined;

	private constructor(server: WebSocketServer, url: string) {
		this.#server = server;
		this.url = url;
		server.on("connection", (socket, { url = "" }) => {
			this.connections.push(url);
			this.#socket = socket;
			socket.on("message", (data: Buffer) => {
				this.received.push({ ...JSON.parse(data.toString()), bytes: data.length });
			});
		});
	}

	static async listen(t: TestContext, port = 0): Promise<EndpointPeer> {
		const { server, url } = await listenForSockets(t, port);
		return new EndpointPeer(server, `${url}mcp/?token=t-secret`);
	}

	async connected(count = 1): Promise<void> {
		await until(() => this.connections.length >= count, `${count} connections`);
	}

	say(message: object | string): void {
		this.#socket?.send(typeof message === "string" ? message : JSON.stringify(message));
	}

	async ask(id: unknown, method: string, params?: object): Promise<Answer> {
		this.say({ jsonrpc: "2.0", id, method, ...(params && { params }) });
		return await this.answer(id);
	}

	async answer(id: unknown): Promise<Answer> {
		let found: Answer | undefined;
		await until(() => {
			found = this.received.find((each) => each.id === id && each.method === undefined);
			return found !== undefined;
		}, `an answer to ${id}`);
		return found as Answer;
	}

	async notified(method: string): Promise<void> {
		await until(() => this.received.some((each) => each.method === method), method);
	}

	/** As xinnan's backend begins. */
	async initialize(): Promise<Answer> {
		const clientInfo = { name: "endpoint", version: "1.0.0" };
		const capabilities = { roots: { listChanged: true }, sampling: {} };
		const params = { protocolVersion: "2024-11-05", capabilities, clientInfo };
		const answer = await this.ask("init", "initialize", params);
		this.say({ jsonrpc: "2.0", method: "notifications/initialized", params: {} });
		return answer;
	}

	async listTools(): Promise<{ names: string[]; pages: Answer[] }> {
		const pages: Answer[] = [];
		let cursor: string | undefined;
		do {
			pages.push(await this.ask(`list-${pages.length}`, "tools/list", cursor === undefined ? undefined : { cursor }));
			cursor = pages.at(-1)?.result.nextCursor;
		} while (cursor !== undefined);
		return { names: pages.flatMap(({ result }) => result.tools.map(({ name }: { name: string }) => name)), pages };
	}

	async call(id: string, name: string, args: object = {}): Promise<Answer> {
		return await this.ask(id, "tools/call", { name, arguments: args });
	}

	stopReading(): void {
		this.#socket?.pause();
	}

	disconnect(): void {
		this.#socket?.close(1000, "replaced");
	}

	close(): void {
		for (const socket of this.#server.clients) {
			socket.terminate();
		}
		this.#server.close();
	}
}
