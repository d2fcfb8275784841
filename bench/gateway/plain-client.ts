import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Era } from "../../host-test/e2e/clients.js";
import { bearer } from "../../host-test/e2e/gateway-process.js";

const INFO = { name: "bench", version: "1.0.0" };
const META = {
	"io.modelcontextprotocol/protocolVersion": "2026-07-28",
	"io.modelcontextprotocol/clientInfo": INFO,
	"io.modelcontextprotocol/clientCapabilities": {},
};

interface Answer {
	readonly response: IncomingMessage;
	readonly body: string;
}

/** A client over Streamable HTTP that does as little as it can: the SDK's own takes more CPU a call than the gateway. */
export class PlainClient {
	readonly #url: string;
	readonly #agent = new Agent({ keepAlive: true });
	readonly #era: Era;
	#headers: Readonly<Record<string, string>>;
	#lastId = 0;

	private constructor(url: string, era: Era, token: string | undefined) {
		this.#url = url;
		this.#era = era;
		this.#headers = {
			...bearer(token),
			"Content-Type": "application/json",
			Accept: "application/json, text/event-stream",
			"MCP-Protocol-Version": era,
		};
	}

	/** @param token undefined: the server needs none */
	static async open(url: string, era: Era, token?: string): Promise<PlainClient> {
		const client = new PlainClient(url, era, token);
		if (era === "2025-11-25") {
			await client.#initialize();
		}
		return client;
	}

	close(): void {
		this.#agent.destroy();
	}

	/** Calls a tool that sets a volume. @throws Error if the answer is not the expected one */
	async setVolume(name: string): Promise<void> {
		const params = { name, arguments: { volume: this.#lastId % 101 } };
		const { response, body } = await this.#ask("tools/call", params, name);
		if (!body.includes('"isError":false')) {
			throw new Error(`${name}: unexpected response, status ${response.statusCode}: ${body}`);
		}
	}

	async #initialize(): Promise<void> {
		const { response } = await this.#ask("initialize", {
			protocolVersion: this.#era,
			capabilities: {},
			clientInfo: INFO,
		});
		const session = response.headers["mcp-session-id"];
		this.#headers = { ...this.#headers, ...(session !== undefined && { "Mcp-Session-Id": String(session) }) };
		await this.#post({ jsonrpc: "2.0", method: "notifications/initialized" });
	}

	#ask(method: string, params: object, name?: string): Promise<Answer> {
		this.#lastId += 1;
		const message = { jsonrpc: "2.0", id: this.#lastId, method };
		return this.#era === "2025-11-25"
			? this.#post({ ...message, params })
			: this.#post(
					{ ...message, params: { ...params, _meta: META } },
					{ "Mcp-Method": method, "Mcp-Name": name ?? "" },
				);
	}

	#post(message: object, headers?: Readonly<Record<string, string>>): Promise<Answer> {
		const data = JSON.stringify(message);
		const length = { "Content-Length": Buffer.byteLength(data) };
		return new Promise((resolve, reject) => {
			const options = { method: "POST", agent: this.#agent, headers: { ...this.#headers, ...headers, ...length } };
			request(this.#url, options, (response) => {
				text(response).then((body) => resolve({ response, body }), reject);
			})
				.on("error", reject)
				.end(data);
		});
	}
}
