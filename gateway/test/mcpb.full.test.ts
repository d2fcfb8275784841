import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { getMcpConfigForManifest, unpackExtension, validateManifest } from "@anthropic-ai/mcpb";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { LAMP, VOLUME } from "./support/command-line.js";
import { WireDevice } from "./support/gateway.js";
import { makeStateFolder, startProgram } from "./support/program.js";

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL("../../scripts/pack-mcpb.mjs", import.meta.url));

/** Bytes of the file at most: it is downloaded. */
const MAX_BYTES = 2_500_000;

describe("the extension for Claude Desktop", () => {
	it("is valid, and connects to a gateway with the URL and the token that the person types", async (t) => {
		const folder = makeStateFolder(t);
		await run(process.execPath, [SCRIPT, folder]);
		const mcpbPath = `${folder}/xs-mcp-gateway.mcpb`;
		assert.ok(statSync(mcpbPath).size < MAX_BYTES, `${statSync(mcpbPath).size} bytes`);
		const extensionPath = `${folder}/unpacked`;
		assert.ok(await unpackExtension({ mcpbPath, outputDir: extensionPath, silent: true }));
		assert.ok(validateManifest(`${extensionPath}/manifest.json`));

		const started = await startProgram(t);
		await WireDevice.connect(t, started, { id: LAMP });
		const { base, tokens } = started;
		for (const makeToken of [() => "", () => tokens.add({ name: "claude", kind: "client" })]) {
			const token = await makeToken();
			const config = await getMcpConfigForManifest({
				manifest: JSON.parse(readFileSync(`${extensionPath}/manifest.json`, "utf8")),
				extensionPath,
				systemDirs: {},
				userConfig: { url: base, token },
				pathSeparator: "/",
			});
			assert.ok(config);
			const transport = new StdioClientTransport({
				command: process.execPath,
				args: config.args ?? [],
				env: config.env ?? {},
			});
			const client = new Client({ name: "test-client", version: "1.0.0" });
			t.after(() => client.close());
			await client.connect(transport);
			assert.deepEqual(
				(await client.listTools()).tools.map(({ name }) => name),
				[VOLUME],
			);
			await client.close();
		}
	});
});
