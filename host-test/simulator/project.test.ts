import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { makeProject } from "../../scripts/create/make-project.js";
import { findSdk, NO_SDK } from "../../scripts/moddable/sdk.js";
import { freePort } from "../support/port.js";
import { startSimulator } from "../support/start-simulator.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const sdk = findSdk();

describe("a project of its own, with the packed firmware", { skip: sdk === undefined && NO_SDK }, () => {
	const folder = join(temporaryFolder(), "garden");

	before(async () => {
		const packages = temporaryFolder();
		const loader = ["--import", `${ROOT}scripts/register.mjs`];
		await promisify(execFile)(process.execPath, [...loader, `${ROOT}scripts/pack-firmware-cli.ts`, packages]);
		makeProject({ folder, name: "garden", board: "esp32", language: "en" });
		mkdirSync(join(folder, "node_modules"));
		cpSync(join(packages, "xs-mcp"), join(folder, "node_modules", "xs-mcp"), { recursive: true });
		for (const name of ["typescript", "esbuild"]) {
			symlinkSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
		}
	});

	it("links for a chip with its parts and tools", async () => {
		const args = [join(folder, "node_modules", "xs-mcp", "bin", "xs-mcp.mjs"), "flash", "--link-only"];
		const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
		assert.match(stdout, /The firmware links for esp32\.\n$/);
	});

	it("runs in the simulator: its tools are called", async (t) => {
		const port = await freePort();
		const settings = [`http=${port}`, "httpToken=secret", "backend=ws://127.0.0.1:1/"];
		await startSimulator(t, sdk, folder, settings, (line) => line.startsWith("serving MCP"));
		const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
			method: "POST",
			headers: {
				Authorization: "Bearer secret",
				"Content-Type": "application/json",
				Accept: "application/json, text/event-stream",
			},
			body: JSON.stringify({
				jsonrpc: "2.0",
				id: 1,
				method: "tools/call",
				params: { name: "self.greet", arguments: { name: "Ada" } },
			}),
		});
		const { result } = (await response.json()) as { result: { content: unknown } };
		assert.deepEqual(result.content, [{ type: "text", text: "Hello Ada, from the device" }]);
	});
});
