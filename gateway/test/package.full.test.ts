import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { makeStateFolder } from "./support/program.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const PROGRAM = `${root}gateway/bin/xs-mcp-gateway.mjs`;
const PORTS = ["--http-port", "0", "--websocket-port", "0"];

/** Installs the tarball as npm does, but takes the dependencies that it names from this repository. */
async function install(tarball: string, folder: string): Promise<string> {
	const installed = join(folder, "node_modules", "xs-mcp-gateway");
	mkdirSync(installed, { recursive: true });
	await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
	const { dependencies, bin } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
	for (const name of Object.keys(dependencies)) {
		mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
		symlinkSync(`${root}node_modules/${name}`, join(folder, "node_modules", name));
	}
	mkdirSync(join(folder, "node_modules", ".bin"));
	const program = join(folder, "node_modules", ".bin", "xs-mcp-gateway");
	symlinkSync(join(installed, bin["xs-mcp-gateway"]), program);
	return program;
}

/** A folder with packages beside the gateway that must not change what it does. */
function makeTrap(folder: string): void {
	mkdirSync(join(folder, "node_modules", "scripts"), { recursive: true });
	writeFileSync(join(folder, "node_modules", "scripts", "register.mjs"), 'throw new Error("imported by mistake");\n');
}

async function listTools(t: TestContext, program: string, cwd: string): Promise<unknown[]> {
	const args = [program, ...PORTS, "--stdio", "--state-folder", makeStateFolder(t)];
	const transport = new StdioClientTransport({ command: process.execPath, args, cwd, stderr: "ignore" });
	const client = new Client({ name: "test-client", version: "1.0.0" });
	t.after(() => client.close());
	await client.connect(transport);
	return (await client.listTools()).tools;
}

describe("the package", () => {
	const folder = `${root}.cache/package-${process.pid}`;
	let tarball = "";

	after(() => rmSync(folder, { recursive: true, force: true }));
	before(async () => {
		await run(process.execPath, [`${root}gateway/pack.mjs`, folder]);
		const { version } = JSON.parse(readFileSync(`${folder}/package/package.json`, "utf8"));
		tarball = `${folder}/xs-mcp-gateway-${version}.tgz`;
	});

	it("runs where it is installed, as npx runs it", async (t) => {
		const place = makeStateFolder(t);
		const program = await install(tarball, place);
		makeTrap(place);
		const { stdout } = await run(process.execPath, [program, "--help"], { cwd: place });
		assert.match(stdout, /Usage: xs-mcp-gateway/);
		assert.deepEqual(await listTools(t, program, place), []);
	});

	it("is a library with types", async (t) => {
		const place = makeStateFolder(t);
		await install(tarball, place);
		const source = 'import { GatewayProgram } from "xs-mcp-gateway"; console.log(typeof GatewayProgram.start);';
		writeFileSync(join(place, "use.mjs"), source);
		assert.equal((await run(process.execPath, ["use.mjs"], { cwd: place })).stdout, "function\n");
		assert.match(
			readFileSync(join(place, "node_modules/xs-mcp-gateway/types/gateway/src/index.d.ts"), "utf8"),
			/GatewayProgram/,
		);
		const manager = 'import { McpManager } from "xs-mcp-gateway/manager"; console.log(typeof McpManager);';
		writeFileSync(join(place, "manage.mjs"), manager);
		assert.equal((await run(process.execPath, ["manage.mjs"], { cwd: place })).stdout, "function\n");
	});
});

describe("the program in the repository", () => {
	it("runs in a folder that has another TypeScript", async (t) => {
		const place = makeStateFolder(t);
		mkdirSync(join(place, "node_modules", "typescript"), { recursive: true });
		writeFileSync(
			join(place, "node_modules", "typescript", "package.json"),
			'{ "name": "typescript", "version": "7.0.0" }',
		);
		writeFileSync(join(place, "tsconfig.json"), "{ broken");
		writeFileSync(join(place, "package.json"), "{}");
		assert.deepEqual(await listTools(t, PROGRAM, place), []);
	});
});
