import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { ERAS } from "../../gateway/src/test-gateway.js";

/** A revision of MCP: the last one with sessions, or the first without. */
export type Era = keyof typeof ERAS;

const HOST = { name: "bench", version: "1.0.0" };

/** The official SDK's client, over Streamable HTTP. Rejects when the server does not serve that revision. */
export async function connectOverHttp(url: string, era: Era): Promise<Client> {
	const client = new Client(HOST, ERAS[era]);
	await client.connect(new StreamableHTTPClientTransport(new URL(url)));
	return client;
}

/** The same over standard input and output of a Node that it starts. */
export async function connectOverStdio(args: readonly string[]): Promise<Client> {
	const client = new Client(HOST, ERAS["2025-11-25"]);
	await client.connect(new StdioClientTransport({ command: process.execPath, args: [...args], stderr: "ignore" }));
	return client;
}

/** Makes a host call set_volume. Rejects unless the answer is the one that every path has to give. */
export function volumeCall(client: Client, name: string): () => Promise<void> {
	let volume = 0;
	return async () => {
		volume = (volume + 1) % 101;
		const { content, isError } = await client.callTool({ name, arguments: { volume } });
		if (isError === true || JSON.stringify(content) !== '[{"type":"text","text":"true"}]') {
			throw new Error(`${name}: an answer that none should give: ${JSON.stringify(content)}`);
		}
	};
}
