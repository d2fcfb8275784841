import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { linkForChip } from "xs-mcp/moddable/mcconfig";
import { type Sdk, sdkEnvironment } from "xs-mcp/moddable/sdk";
import { ROOT } from "xs-mcp/root";
import { noSdk, sdk } from "../support/sdk.js";
import { Simulator } from "../support/simulator.js";
import { freePort, temporaryFolder, until } from "../support/testing.js";

const EXAMPLE = join(ROOT, "examples", "embed");

describe("an MCP server in a project of its own", { skip: noSdk }, () => {
	it("links for a chip", async () => {
		await linkForChip(sdk, EXAMPLE, "esp32");
	});

	it("is built outside the checkout, with the types of the SDK, and keeps its state between clients", async (t) => {
		const port = await freePort();
		const simulator = await Simulator.start(sdk, await buildCopy(sdk, port), { headless: true });
		t.after(() => simulator.stop());
		await until(() => simulator.machine !== undefined, "the simulator runs it");
		const parameters = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
		assert.equal((await ask(port, "initialize", parameters)).serverInfo.name, "thermostat");
		for (const [celsius, previous] of [
			[21, "20"],
			[22, "21"],
		]) {
			const { content } = await ask(port, "tools/call", { name: "set_target", arguments: { celsius } });
			assert.deepEqual(content, [{ type: "text", text: previous }]);
		}
	});
});

/**
 * Builds a copy of the example as docs/embed.md says. The server with a resource is built with it, as its features are
 * preloaded.
 *
 * @returns the library that the simulator loads
 */
async function buildCopy(sdk: Sdk, port: number): Promise<string> {
	const project = join(temporaryFolder(), "thermostat");
	cpSync(EXAMPLE, project, { recursive: true });
	const manifest = join(project, "manifest.json");
	writeFileSync(
		manifest,
		readFileSync(manifest, "utf8")
			.replace('"../.."', JSON.stringify(ROOT))
			.replace('mcp_server/manifest.json"', '$&, "$(XS_MCP)/src/mcp_server/features/manifest_resources.json"')
			.replace('"./thermostat"', '$&, "./with-resource"'),
	);
	const output = join(project, "build");
	mkdirSync(output);
	const args = ["-d", "-m", "-p", sdk.host, "-t", "build", "-o", output, `port=${port}`];
	await promisify(execFile)(join(sdk.bin, "mcconfig"), args, { cwd: project, env: sdkEnvironment(sdk) }).catch(
		(error) => assert.fail(error.stdout),
	);
	return join(output, "bin", sdk.host, "mc", "debug", "embed", "mc.so");
}

/** Asks as a new client, which disconnects after the answer. */
async function ask(port: number, method: string, params: object) {
	const socket = await open(port);
	socket.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`);
	const [line] = await once(createInterface(socket), "line");
	socket.destroy();
	return JSON.parse(line).result;
}

/** Connects as soon as something listens. */
async function open(port: number) {
	for (;;) {
		const socket = connect(port, "127.0.0.1");
		try {
			await once(socket, "connect");
			return socket;
		} catch {
			await new Promise((resolve) => setTimeout(resolve, 100));
		}
	}
}
