import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Era } from "../../e2e/clients.js";
import { bearer } from "../../e2e/gateway-process.js";

const INFO = { name: "bench", version: "1.0.0" };
const META = {
	"io.modelcontextprotocol/protocolVersion": "2026-07-28",
	"io.modelcontextprotocol/clientInfo": INFO,
	"io.modelcontextprotocol/clientCapabilities": {},
};

export type PlainClient = Awaited<ReturnType<typeof openPlainClient>>;

/**
 * Opens a client over Streamable HTTP that does as little as it can: the SDK's own takes more CPU a call than the gateway.
 *
 * @param token undefined: the server needs none
 */
export async function openPlainClient(url: string, era: Era, token?: string) {
	const agent = new Agent({ keepAlive: true });
	const common: Record<string, string> = {
		...bearer(token),
		"Content-Type": "application/json",
		Accept: "application/json, text/event-stream",
		"MCP-Protocol-Version": era,
	};
	let lastId = 0;

	function post(message: object, more?: Readonly<Record<string, string>>) {
		const data = JSON.stringify(message);
		const headers = { ...common, ...more, "Content-Length": Buffer.byteLength(data) };
		return new Promise<{ response: IncomingMessage; body: string }>((resolve, reject) => {
			request(url, { method: "POST", agent, headers }, (response) => {
				text(response).then((body) => resolve({ response, body }), reject);
			})
				.on("error", reject)
				.end(data);
		});
	}

	function ask(method: string, params: object, name = "") {
		lastId += 1;
		const message = { jsonrpc: "2.0", id: lastId, method, params };
		return era === "2025-11-25"
			? post(message)
			: post({ ...message, params: { ...params, _meta: META } }, { "Mcp-Method": method, "Mcp-Name": name });
	}

	if (era === "2025-11-25") {
		const { response } = await ask("initialize", { protocolVersion: era, capabilities: {}, clientInfo: INFO });
		const session = response.headers["mcp-session-id"];
		if (session !== undefined) {
			common["Mcp-Session-Id"] = String(session);
		}
		await post({ jsonrpc: "2.0", method: "notifications/initialized" });
	}
	return {
		/** Calls a tool that sets a volume. Rejects with Error if the answer is not the expected one. */
		async setVolume(name: string): Promise<void> {
			const params = { name, arguments: { volume: lastId % 101 } };
			const { response, body } = await ask("tools/call", params, name);
			if (!body.includes('"content"') || body.includes('"isError":true')) {
				throw new Error(`${name}: unexpected response, status ${response.statusCode}: ${body}`);
			}
		},
		close: () => agent.destroy(),
	};
}
