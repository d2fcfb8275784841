import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { build } from "esbuild";
import { ROOT } from "xs-mcp/root";
import type { McpServer } from "../../src/mcp_server/mcp-server.js";
import { readSteps } from "../support/guide.js";

async function clientsOf(example: string) {
	const { outputFiles } = await build({
		entryPoints: [`${ROOT}examples/embed/${example}`],
		alias: { src: `${ROOT}src` },
		bundle: true,
		format: "esm",
		write: false,
	});
	const code = outputFiles[0]?.text ?? "";
	const { default: server }: { default: McpServer<unknown> } = await import(
		`data:text/javascript,${encodeURIComponent(code)}`
	);
	return (method: string, params: object) => {
		const sent: string[] = [];
		const session = server.open({ send: (message) => sent.push(String(message)) });
		session.receiveText(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
		session.close();
		return JSON.parse(sent[0] as string).result;
	};
}

it("an MCP server without the rest of the firmware serves one client after another, with the same state", async () => {
	const ask = await clientsOf("thermostat.ts");
	const { serverInfo } = ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} });
	assert.deepEqual(serverInfo, { name: "thermostat", version: "1.0.0" });
	const setTarget = (celsius: number) =>
		ask("tools/call", { name: "set_target", arguments: { celsius } }).content[0].text;
	assert.deepEqual([setTarget(21), setTarget(22)], ["20", "21"]);
});

it("an MCP server without the rest of the firmware has a resource", async () => {
	const ask = await clientsOf("with-resource.ts");
	const { contents } = ask("resources/read", { uri: "room://target" });
	assert.deepEqual(contents, [{ uri: "room://target", mimeType: "application/json", text: '{"celsius":20}' }]);
});

it("docs/beyond-tools.md and docs/embed.md show the examples that tests run", () => {
	const steps = ["beyond-tools.md", "embed.md"].flatMap(readSteps);
	const shown = steps.filter(({ about }) => about.startsWith("examples/"));
	assert.equal(shown.length, 4);
	for (const { about, text } of shown) {
		assert.equal(text, readFileSync(ROOT + about, "utf8"), about);
	}
});
