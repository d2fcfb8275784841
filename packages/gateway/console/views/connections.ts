import type { ConsoleSessionInfo } from "../../src/console/console-routes.js";

const NAME = "devices";

/** Placeholder for the reader's token. */
const TOKEN = "xsmcp_…";

/**
 * Instructions to connect each application: a text for a file, or else a command to be run; and a link or a file by which the
 * application installs it.
 *
 * @param url the gateway's endpoint for clients
 */
export function connectionsTo(
	url: string,
	{ needsToken, hasExtension, bridge: installed }: Pick<ConsoleSessionInfo, "needsToken" | "hasExtension" | "bridge">,
) {
	const base = url.replace(/\/mcp$/, "");
	const headers = (value: string): object => (needsToken ? { headers: { Authorization: `Bearer ${value}` } } : {});
	const bridge =
		installed === undefined
			? remoteBridge(url, needsToken)
			: {
					command: installed.command,
					args: [...installed.args, "--url", base],
					...(needsToken && { env: { XS_MCP_GATEWAY_TOKEN: TOKEN } }),
				};
	const cursor = { url, ...headers(`\${env:XS_MCP_GATEWAY_TOKEN}`) };
	const code = { type: "http", url, ...headers(`\${input:xs-mcp-token}`) };
	const inputs = [
		{ type: "promptString", id: "xs-mcp-token", description: "Token for xs-mcp-gateway", password: true },
	];
	const bearer = needsToken ? ` --header "Authorization: Bearer ${TOKEN}"` : "";
	return [
		{
			name: "Claude Desktop",
			file: "claude_desktop_config.json",
			text: json({ mcpServers: { [NAME]: bridge } }),
			download: hasExtension ? `${base}/console/xs-mcp-gateway.mcpb` : undefined,
		},
		{ name: "Claude Code", text: `claude mcp add --transport http ${NAME} "${url}?catalog=full"${bearer}` },
		{
			name: "Cursor",
			file: "~/.cursor/mcp.json",
			text: json({ mcpServers: { [NAME]: cursor } }),
			link: `cursor://anysphere.cursor-deeplink/mcp/install?name=${NAME}&config=${encodeURIComponent(btoa(JSON.stringify(cursor)))}`,
		},
		{
			name: "VS Code",
			file: ".vscode/mcp.json",
			text: json({ ...(needsToken && { inputs }), servers: { [NAME]: code } }),
			link: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, ...code, ...(needsToken && { inputs }) }))}`,
		},
		{
			name: "Codex",
			file: "~/.codex/config.toml",
			text: [
				`[mcp_servers.${NAME}]`,
				`url = ${JSON.stringify(url)}`,
				...(needsToken ? ['bearer_token_env_var = "XS_MCP_GATEWAY_TOKEN"'] : []),
			].join("\n"),
		},
		{
			name: "Gemini CLI",
			file: "~/.gemini/settings.json",
			text: json({ mcpServers: { [NAME]: { httpUrl: url, ...headers(TOKEN) } } }),
		},
	];
}

/** A bridge of others, which npm fetches. Spaces in its arguments get lost on Windows, so the header is in the environment. */
function remoteBridge(url: string, needsToken: boolean): object {
	const { protocol, hostname } = new URL(url);
	const isOpen = protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(hostname);
	return {
		command: "npx",
		args: [
			...["-y", "mcp-remote", url],
			...(isOpen ? ["--allow-http"] : []),
			...(needsToken ? ["--header", `Authorization:\${AUTHORIZATION}`] : []),
		],
		...(needsToken && { env: { AUTHORIZATION: `Bearer ${TOKEN}` } }),
	};
}

function json(value: object): string {
	return JSON.stringify(value, undefined, 2);
}
