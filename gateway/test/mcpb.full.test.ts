import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
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

/** Unpacks an extension, and connects with it to a gateway as Claude Desktop does. Returns the tools that it has. */
async function useExtension(t: TestContext, mcpbPath: string, userConfig: { url?: string; token: string }) {
	const extensionPath = `${makeStateFolder()}/unpacked`;
	assert.ok(await unpackExtension({ mcpbPath, outputDir: extensionPath, silent: true }));
	assert.ok(validateManifest(`${extensionPath}/manifest.json`));
	const manifest = JSON.parse(readFileSync(`${extensionPath}/manifest.json`, "utf8"));
	const config = await getMcpConfigForManifest({
		manifest,
		extensionPath,
		systemDirs: {},
		userConfig: { url: manifest.user_config.url.default, ...userConfig },
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
	const { tools } = await client.listTools();
	await client.close();
	return { manifest, names: tools.map(({ name }) => name) };
}

describe("the extension for Claude Desktop", () => {
	it("is valid, and connects to a gateway with the URL and the token that the person types", async (t) => {
		const folder = makeStateFolder();
		await run(process.execPath, [SCRIPT, folder]);
		const mcpbPath = `${folder}/xs-mcp-gateway.mcpb`;
		assert.ok(statSync(mcpbPath).size < MAX_BYTES, `${statSync(mcpbPath).size} bytes`);
		const started = await startProgram(t);
		await WireDevice.connect(t, started, { id: LAMP });
		const { base, tokens } = started;
		for (const makeToken of [() => "", () => tokens.add({ name: "claude", kind: "client" })]) {
			const { names } = await useExtension(t, mcpbPath, { url: base, token: await makeToken() });
			assert.deepEqual(names, [VOLUME]);
		}
	});

	it("comes from the console with the gateway's address, and without a token", async (t) => {
		const { cachedBundle } = await import(new URL("../../toolchain/bundle.mjs", import.meta.url).href);
		const consoleFolder = fileURLToPath(new URL("console", await cachedBundle("gateway")));
		const started = await startProgram(t, {}, undefined, { consoleFolder });
		await WireDevice.connect(t, started, { id: LAMP });
		const response = await fetch(`${started.base}/console/xs-mcp-gateway.mcpb`);
		const mcpbPath = `${makeStateFolder()}/downloaded.mcpb`;
		writeFileSync(mcpbPath, Buffer.from(await response.arrayBuffer()));
		assert.ok(statSync(mcpbPath).size < MAX_BYTES, `${statSync(mcpbPath).size} bytes`);
		const { manifest, names } = await useExtension(t, mcpbPath, { token: "" });
		assert.deepEqual([manifest.user_config.url.default, manifest.user_config.token.default], [started.base, ""]);
		assert.deepEqual(names, [VOLUME]);
		await started.tokens.add({ name: "claude", kind: "client" });
		assert.equal((await fetch(`${started.base}/console/xs-mcp-gateway.mcpb`)).status, 401);
	});
});
