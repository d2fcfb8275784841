import { fileURLToPath } from "node:url";
import { heading, line, paint, verbatim } from "./output.js";

const PROGRAM = fileURLToPath(new URL("../../gateway/bin/xs-mcp-gateway.mjs", import.meta.url));

/** Says where the gateway's console is, and the devices' own pages. */
export function showPages(console = "", devices: readonly string[] = []): void {
	heading("In your browser, while this runs");
	line(`Console  ${paint("green", console)}`);
	for (const url of devices) {
		line(`Device   ${paint("green", url)}  (its screen, buttons, sensors, messages)`);
	}
}

/** Says how an MCP client gets to the gateway: what to paste, and where. */
export function showSnippets(url: string): void {
	heading("For your MCP client, while this runs");
	line(`URL  ${paint("green", url)}  (Streamable HTTP)`);
	line("");
	line(paint("dim", "Cursor, .cursor/mcp.json:"));
	showJson({ mcpServers: { devices: { url } } });
	line(paint("dim", "VS Code, .vscode/mcp.json:"));
	showJson({ servers: { devices: { type: "http", url } } });
	line(paint("dim", "Claude Desktop, claude_desktop_config.json:"));
	showJson({ mcpServers: { devices: { command: "node", args: [PROGRAM, "stdio", "--url", url] } } });
	line(paint("dim", "Claude Code:"));
	verbatim(`claude mcp add --transport http devices ${url}`);
	line(paint("dim", "MCP Inspector:"));
	verbatim(`npx @modelcontextprotocol/inspector --cli ${url} --transport http --method tools/list`);
	line("");
	line("More: docs/gateway/connect-a-client.md");
}

function showJson(value: object): void {
	verbatim(JSON.stringify(value));
}
