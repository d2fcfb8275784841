// Clients that ask for much and then stop reading: the answer to a call, or the stream of their session.
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";

/** Milliseconds until a client whose connection was closed comes again. */
const RETURN_TIME = 2_000;

/** Bytes of an answer that are read: its head, so that it is known to have begun. */
const HEAD = 1_000;

const HEADERS = {
	"Content-Type": "application/json",
	Accept: "application/json, text/event-stream",
	"MCP-Protocol-Version": "2025-11-25",
};

/** Clients that stall in one session, with it after each restart. */
export class StalledReaders {
	stalled = 0;
	readonly #url: URL;
	readonly #session: string;
	readonly #sockets = new Set<Socket>();
	#calls = 0;
	#isClosed = false;

	private constructor(url: string, session: string) {
		this.#url = new URL(url);
		this.#session = session;
	}

	/** @param tool answers with more than fits into the buffers of sockets */
	static async start(t: TestContext, url: string, tool: string, count: number): Promise<StalledReaders> {
		const clientInfo = { name: "stalled-reader", version: "1.0.0" };
		const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
		const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
		const response = await fetch(url, { method: "POST", headers: HEADERS, body });
		await response.text();
		const readers = new StalledReaders(url, response.headers.get("mcp-session-id") as string);
		t.after(() => readers.#close());
		void readers.#stallForEver(() => readers.#request("GET", ""));
		for (let at = 1; at < count; at += 1) {
			void readers.#stallForEver(() => readers.#call(tool));
		}
		return readers;
	}

	#close(): void {
		this.#isClosed = true;
		for (const socket of this.#sockets) {
			socket.destroy();
		}
	}

	async #stallForEver(request: () => string): Promise<void> {
		while (!this.#isClosed) {
			await this.#stall(request());
			await delay(RETURN_TIME);
		}
	}

	/** Settles when the gateway has ended the connection, which a socket that is not read hears of by an error only. */
	async #stall(request: string): Promise<void> {
		const socket = connect(Number(this.#url.port), "127.0.0.1");
		this.#sockets.add(socket);
		// The gateway is away, or has ended the connection.
		socket.on("error", () => {});
		socket.write(request);
		let read = 0;
		socket.on("data", (data) => {
			read += data.length;
			if (read >= HEAD || request.startsWith("GET")) {
				this.stalled += 1;
				socket.pause();
			}
		});
		const ended = new Promise((resolve) => socket.once("close", resolve));
		const probe = setInterval(() => socket.write("\r\n"), 1_000);
		await ended;
		clearInterval(probe);
		this.#sockets.delete(socket);
	}

	#call(name: string): string {
		this.#calls += 1;
		const params = { name, arguments: { text: `big ${this.#calls}` } };
		return this.#request("POST", JSON.stringify({ jsonrpc: "2.0", id: this.#calls, method: "tools/call", params }));
	}

	#request(method: string, body: string): string {
		const headers = {
			...HEADERS,
			Host: this.#url.host,
			"Mcp-Session-Id": this.#session,
			"Content-Length": body.length,
		};
		const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
		return `${method} ${this.#url.pathname}${this.#url.search} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
	}
}
