import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { makeProject } from "xs-mcp/create/make-project";
import { ROOT } from "xs-mcp/root";
import { connectOverHttp } from "../../e2e/clients.js";
import { FIRMWARE } from "../../src/core/firmware.js";
import { readSteps } from "../support/guide.js";
import { noSdk } from "../support/sdk.js";
import { freePort, temporaryFolder } from "../support/testing.js";
import { startSimulator } from "./start-simulator.js";

const run = promisify(execFile);

describe("a project of its own, with the packed firmware", { skip: noSdk }, () => {
	const folder = join(temporaryFolder(), "garden");

	before(async () => {
		const packages = temporaryFolder();
		await run("npm", ["run", "pack", "--", "packages/xs-mcp", "--to", packages], { cwd: ROOT });
		makeProject({ folder, name: "garden", board: "esp32", language: "en" });
		for (const { about, text } of readSteps("first-device.md").filter(({ kind }) => kind === "ts")) {
			writeFileSync(join(folder, about), text);
		}
		const installed = join(folder, "node_modules", "xs-mcp");
		mkdirSync(installed, { recursive: true });
		const tarball = join(packages, `xs-mcp-${FIRMWARE.version}.tgz`);
		await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
		for (const [name, source] of Object.entries({ typescript: "typescript-7", esbuild: "esbuild" })) {
			symlinkSync(join(ROOT, "node_modules", source), join(folder, "node_modules", name));
		}
	});

	const link = async (): Promise<string> => {
		const args = [join(folder, "node_modules", "xs-mcp", "packages/xs-mcp/programs/xs-mcp.js"), "flash", "--link-only"];
		return (await run(process.execPath, args, { cwd: folder })).stdout;
	};

	it("links for a chip with its parts and tools", async () => {
		assert.match(await link(), /The firmware links for esp32\.\n$/);
	});

	it("links for a board of its own with three sensors and a relay", async () => {
		copyFileSync(join(ROOT, "host-test/fixtures/own-board/device.ts"), join(folder, "device.ts"));
		assert.match(await link(), /The firmware links for esp32\/own\.\n$/);
	});

	it("runs in the simulator with that board's parts: its tools are called", async (t) => {
		const port = await freePort();
		const settings = [`http=${port}`, "httpToken=secret", "backend=ws://127.0.0.1:1/"];
		await startSimulator(t, folder, settings, { isReady: (line) => line.startsWith("serving MCP") });
		const client = await connectOverHttp(`http://127.0.0.1:${port}/mcp`, "2025-11-25", "secret");
		t.after(() => client.close());
		const { content } = await client.callTool({ name: "self.greet", arguments: { name: "Ada" } });
		assert.deepEqual(content, [{ type: "text", text: "Hello Ada, from the device" }]);
		const { structuredContent } = await client.callTool({ name: "self.sensor.read", arguments: {} });
		assert.deepEqual(Object.keys(structuredContent as object), ["air", "light", "water"]);
	});
});
