import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { after, before, describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { makeStateFolder } from "../testing/program.js";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));
const PROGRAM = `${root}packages/gateway/xs-mcp-gateway.mjs`;
const PORTS = ["--http-port", "0", "--websocket-port", "0"];

/** The packages that are published, by their folders. */
const PACKAGES = {
	"packages/manager": "xs-mcp-manager",
	"packages/gateway": "xs-mcp-gateway",
	"packages/pi": "xs-mcp-pi",
} as const;

/** Bytes that the gateway takes at most. It has no dependencies. */
const MAX_GATEWAY_BYTES = 7_000_000;

const MAX_MANAGER_BYTES = 4_000_000;

/** Installs tarballs as npm does, but takes the dependencies that they name from this repository. */
async function install(tarballs: readonly string[], folder: string): Promise<void> {
	mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
	const needed = new Set<string>();
	for (const tarball of tarballs) {
		const unpacked = join(folder, "unpacked");
		mkdirSync(unpacked);
		await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", unpacked]);
		const { name, dependencies, bin } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
		const installed = join(folder, "node_modules", name);
		renameSync(unpacked, installed);
		for (const [program, path] of Object.entries((bin ?? {}) as Record<string, string>)) {
			symlinkSync(join(installed, path), join(folder, "node_modules", ".bin", program));
		}
		for (const each of Object.keys(dependencies)) {
			needed.add(each);
		}
	}
	for (const name of [...needed].filter((each) => !existsSync(join(folder, "node_modules", each)))) {
		mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
		symlinkSync(`${root}node_modules/${name}`, join(folder, "node_modules", name));
	}
}

async function print(folder: string, source: string): Promise<string> {
	writeFileSync(join(folder, "use.mjs"), source);
	return (await run(process.execPath, ["use.mjs"], { cwd: folder })).stdout;
}

/** A folder with packages beside the gateway that must not change what it does. */
function makeTrap(folder: string): void {
	mkdirSync(join(folder, "node_modules", "scripts"), { recursive: true });
	writeFileSync(join(folder, "node_modules", "scripts", "register.mjs"), 'throw new Error("imported by mistake");\n');
}

async function listTools(t: TestContext, program: string, cwd: string): Promise<unknown[]> {
	const args = [program, ...PORTS, "--stdio", "--state-folder", makeStateFolder()];
	const transport = new StdioClientTransport({ command: process.execPath, args, cwd, stderr: "ignore" });
	const client = new Client({ name: "test-client", version: "1.0.0" });
	t.after(() => client.close());
	await client.connect(transport);
	return (await client.listTools()).tools;
}

function bytesIn(folder: string): number {
	return readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" })
		.filter((each) => each.isFile())
		.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

describe("the packages", () => {
	const folder = `${root}.cache/package-${process.pid}`;
	const tarballs = {} as Record<keyof typeof PACKAGES, string>;

	after(() => rmSync(folder, { recursive: true, force: true }));
	before(async () => {
		await run("npm", ["run", "pack", "--", ...Object.keys(PACKAGES), "--to", folder], { cwd: root });
		const files = Object.values(PACKAGES).map((name) => `${name}-${FIRMWARE.version}.tgz`);
		assert.deepEqual(readdirSync(folder).sort(), [...files, "xs-mcp-gateway.mcpb"].sort(), "nothing else is left");
		for (const [source, name] of Object.entries(PACKAGES)) {
			const tarball = `${folder}/${name}-${FIRMWARE.version}.tgz`;
			tarballs[source as keyof typeof PACKAGES] = tarball;
			mkdirSync(`${folder}/${source}`, { recursive: true });
			// In a folder of this name.
			await run("tar", ["-xzf", tarball, "-C", `${folder}/${source}`, "package"]);
		}
	});

	it("have programs that run where they are installed, as npx runs them", async (t) => {
		const place = makeStateFolder();
		await install([tarballs["packages/gateway"]], place);
		assert.deepEqual(readdirSync(join(place, "node_modules")).sort(), [".bin", "xs-mcp-gateway"]);
		const program = join(place, "node_modules", ".bin", "xs-mcp-gateway");
		makeTrap(place);
		const { stdout } = await run(process.execPath, [program, "--help"], { cwd: place });
		assert.match(stdout, /Usage: xs-mcp-gateway/);
		assert.deepEqual(await listTools(t, program, place), []);
		await install([tarballs["packages/manager"]], place);
		const proxy = join(place, "node_modules", ".bin", "xs-mcp-proxy");
		const { stdout: help } = await run(process.execPath, [proxy, "--help"], { cwd: place });
		assert.match(help, /Usage: xs-mcp-proxy/);
	});

	it("are libraries with types", async () => {
		const place = makeStateFolder();
		await install([tarballs["packages/manager"], tarballs["packages/gateway"]], place);
		const gateway = 'import { createGateway } from "xs-mcp-gateway"; console.log(typeof createGateway);';
		assert.equal(await print(place, gateway), "function\n");
		const types = readFileSync(join(place, "node_modules/xs-mcp-gateway/types/index.d.ts"), "utf8");
		assert.match(types, /createGateway/);
		for (const [, path] of types.matchAll(/from "(\.[^"]+)\.js"/g)) {
			assert.ok(existsSync(join(place, `node_modules/xs-mcp-gateway/types/${path}.d.ts`)), path);
		}
		for (const name of ["xs-mcp-manager", "xs-mcp-gateway/manager"]) {
			assert.equal(
				await print(place, `import { McpManager } from "${name}"; console.log(McpManager.name);`),
				"McpManager\n",
			);
		}
	});

	it("have a manager that takes few megabytes, and whose types need no other package's", async () => {
		const place = makeStateFolder();
		await install([tarballs["packages/manager"]], place);
		const manager = join(place, "node_modules", "xs-mcp-manager");
		assert.deepEqual(readdirSync(join(place, "node_modules")).sort(), [".bin", "xs-mcp-manager"]);
		assert.ok(bytesIn(manager) < MAX_MANAGER_BYTES, `${bytesIn(manager)} bytes`);
		const source = [
			'import { McpManager, type McpConnection } from "xs-mcp-manager";',
			'import { ServerRegistry } from "xs-mcp-manager/core";',
			'export const manager = new McpManager({ servers: [{ name: "a", url: "http://a/" }], registry: new ServerRegistry() });',
			"export const connections: McpConnection[] = manager.listConnections();",
			'const { data } = await manager.executeTool("t", {}, { server: "a" });',
			"// @ts-expect-error: a text, an image or the like, not a number",
			"export const type: number | undefined = data?.content[0]?.type;",
		].join("\n");
		writeFileSync(join(place, "use.mts"), source);
		symlinkSync(`${root}node_modules/@types`, join(place, "node_modules", "@types"));
		const options = "--noEmit --strict --exactOptionalPropertyTypes --target es2022 --module nodenext --types node";
		const compiler = `${root}node_modules/typescript/bin/tsc`;
		await run(process.execPath, [compiler, "--ignoreConfig", ...options.split(" "), "use.mts"], { cwd: place });
	});

	it("check what a tool's schema does not allow, in another thread if it takes long", async () => {
		const place = makeStateFolder();
		await install([tarballs["packages/manager"], tarballs["packages/gateway"]], place);
		const server = fileURLToPath(new URL("../../manager/testing/odd-server.mjs", import.meta.url));
		const source = (name: string): string =>
			`import { McpManager } from "${name}"; ` +
			`const manager = new McpManager({ servers: [{ name: "odd", command: process.execPath, args: [${JSON.stringify(server)}] }] }); ` +
			'await manager.initialize(); const { error } = await manager.executeTool("echo", { text: 1 }); ' +
			"console.log(error.code); await manager.close();";
		for (const name of ["xs-mcp-manager", "xs-mcp-gateway/manager"]) {
			assert.equal(await print(place, source(name)), "INVALID_PARAMS\n");
		}
	});

	it("take what a CommonJS module has from its default export where they load it on demand: a bundle has no other name", () => {
		const files = Object.keys(PACKAGES).flatMap((source) => {
			const paths = readdirSync(`${folder}/${source}/package`, { recursive: true, encoding: "utf8" });
			return paths.filter((path) => path.endsWith(".js")).map((path) => `${folder}/${source}/package/${path}`);
		});
		const codes = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));
		const commonJs = files.filter((file) => /\bexport default require_\w+\(\)/.test(codes.get(file) as string));
		assert.ok(commonJs.some((file) => codes.get(file)?.includes("MDNSServer")));
		for (const file of commonJs) {
			const uses = new RegExp(`([^=,;]+)=\\s*await import\\("\\./${basename(file)}"\\)`, "g");
			for (const [use, names] of [...codes.values()].flatMap((code) => [...code.matchAll(uses)])) {
				assert.match(names as string, /\{\s*default:\s*\w+\s*\}\s*$/, use);
			}
		}
	});

	it("are small, and have the licences of what is in them", async () => {
		const gateway = `${folder}/packages/gateway/package`;
		assert.ok(bytesIn(gateway) < MAX_GATEWAY_BYTES, `${bytesIn(gateway)} bytes`);
		const licences = readFileSync(`${gateway}/THIRD-PARTY-LICENSES`, "utf8");
		for (const name of ["@modelcontextprotocol/server", "hono", "zod", "aedes", "preact"]) {
			assert.match(licences, new RegExp(`^${name} [0-9.]+: \\S`, "m"));
		}
		assert.ok(existsSync(`${folder}/packages/pi/package/mcp-client.js`));
	});

	it("have what docs/gateway/operation.md copies", () => {
		const operation = readFileSync(`${root}docs/gateway/operation.md`, "utf8");
		const copied = [...operation.matchAll(/"\$\(npm root --global\)\/xs-mcp-gateway\/([^"]+)"/g)].map(
			([, path]) => path,
		);
		assert.deepEqual(copied, ["xs-mcp-gateway.service"]);
		for (const file of [...copied, "alerts.yml", "grafana-dashboard.json"]) {
			assert.ok(existsSync(`${folder}/packages/gateway/package/${file}`), file);
		}
	});

	it("cannot be made or published from their sources", async () => {
		for (const source of [...Object.keys(PACKAGES), "packages/virtual-device", "."]) {
			await assert.rejects(
				run("npm", ["pack", "--dry-run"], { cwd: `${root}${source}` }),
				/must have name and version/,
			);
		}
	});
});

it("the program in the repository runs in a folder that has another TypeScript", async (t) => {
	const place = makeStateFolder();
	mkdirSync(join(place, "node_modules", "typescript"), { recursive: true });
	writeFileSync(
		join(place, "node_modules", "typescript", "package.json"),
		'{ "name": "typescript", "version": "7.0.0" }',
	);
	writeFileSync(join(place, "tsconfig.json"), "{ broken");
	writeFileSync(join(place, "package.json"), "{}");
	assert.deepEqual(await listTools(t, PROGRAM, place), []);
});
