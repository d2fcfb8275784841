import { visible } from "./visible.js";

interface Call {
	/** The gateway's endpoint for clients. */
	readonly url: string;
	readonly device: string;
	readonly tool: string;
	readonly args: Readonly<Record<string, unknown>>;
}

/** A call as a line for a shell. */
export function asCommand({ device, tool, args }: Call): string {
	const pairs = Object.entries(args).map(([name, value]) =>
		quote(`${name}=${typeof value === "string" ? value : JSON.stringify(value)}`),
	);
	return ["xs-mcp-gateway call", quote(device), quote(tool), ...pairs].join(" ");
}

/** A call as the JSON-RPC request of MCP. */
export function asJson({ tool, args }: Call): string {
	const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } };
	return JSON.stringify(request, undefined, 2);
}

/** A call as a TypeScript module that makes it. */
export function asTypeScript({ url, device, tool, args }: Call): string {
	return [
		'import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";',
		"",
		'const client = new Client({ name: "example", version: "1.0.0" });',
		`await client.connect(new StreamableHTTPClientTransport(new URL(${JSON.stringify(`${url}/${encodeURIComponent(device)}`)})));`,
		`const result = await client.callTool({ name: ${JSON.stringify(tool)}, arguments: ${JSON.stringify(args)} });`,
		"console.log(result);",
		"await client.close();",
	].join("\n");
}

/** A word for a POSIX shell, which takes nothing in single quotes for anything else. */
function quote(word: string): string {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${visible(word).replaceAll("'", String.raw`'\''`)}'`;
}
