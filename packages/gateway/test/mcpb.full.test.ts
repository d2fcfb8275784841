import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { unzipSync } from "fflate";
import { cachedBundle } from "xs-mcp/bundle";
import { LAMP, VOLUME, WireDevice } from "../testing/gateway.js";
import { makeStateFolder, startProgram, startProgramWithDevice } from "../testing/program.js";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Bytes of the file at most: it is downloaded. */
const MAX_BYTES = 2_500_000;

/** The configuration of a manifest with these values in the place of `${NAME}`: each must be known. */
function fillIn(
	config: object,
	values: Readonly<Record<string, string>>,
): { args: string[]; env: Record<string, string> } {
	const fill = (text: string): string =>
		text.replace(/\$\{([^}]+)\}/g, (_, name) => {
			assert.ok(name in values, name);
			return values[name] as string;
		});
	return JSON.parse(JSON.stringify(config), (_, value) => (typeof value === "string" ? fill(value) : value));
}

/** Unpacks an extension, and connects with it to a gateway as Claude Desktop does. Returns the tools that it has. */
async function useExtension(t: TestContext, mcpbPath: string, userConfig: { url?: string; token: string }) {
	const extensionPath = `${makeStateFolder()}/unpacked`;
	mkdirSync(extensionPath);
	for (const [name, file] of Object.entries(unzipSync(readFileSync(mcpbPath)))) {
		writeFileSync(`${extensionPath}/${name}`, file);
	}
	const manifest = JSON.parse(readFileSync(`${extensionPath}/manifest.json`, "utf8"));
	const { args, env } = fillIn(manifest.server.mcp_config, {
		__dirname: extensionPath,
		"user_config.url": userConfig.url ?? manifest.user_config.url.default,
		"user_config.token": userConfig.token,
	});
	assert.ok(existsSync(`${extensionPath}/${manifest.server.entry_point}`));
	const transport = new StdioClientTransport({ command: process.execPath, args, env });
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
		await run("npm", ["run", "-s", "pack", "--", "packages/gateway", "--to", folder], { cwd: ROOT });
		const mcpbPath = `${folder}/xs-mcp-gateway.mcpb`;
		assert.ok(statSync(mcpbPath).size < MAX_BYTES, `${statSync(mcpbPath).size} bytes`);
		const { started } = await startProgramWithDevice(t, { id: LAMP });
		const { base, tokens } = started;
		for (const makeToken of [() => "", () => tokens.add({ name: "claude", kind: "client" })]) {
			const { names } = await useExtension(t, mcpbPath, { url: base, token: await makeToken() });
			assert.deepEqual(names, [VOLUME]);
		}
	});

	it("comes from the console with the gateway's address, and without a token", async (t) => {
		const consoleFolder = fileURLToPath(new URL("console", await cachedBundle("packages/gateway")));
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
