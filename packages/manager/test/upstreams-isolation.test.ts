import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { describe, it, type TestContext } from "node:test";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { isolated } from "../src/upstreams/process-transport.js";
import { type ServerInput, serverConfig } from "../src/upstreams/server-config.js";
import { callText, connected, nodeServer, ODD_SERVER } from "../testing/upstreams.js";

/** Environment of a server over stdio, and its folder as `cwd`. */
async function seen(t: TestContext, input: Partial<ServerInput>): Promise<Record<string, string>> {
	const { server } = await connected(t, { ...nodeServer("odd", ODD_SERVER), ...input });
	return JSON.parse(await callText(server, "write", { environment: true }));
}

const lacks = (program: string): string | false =>
	spawnSync(program, ["--version"]).error === undefined ? false : `${program} is not installed`;

describe("a server over stdio", () => {
	it("gets its variables and working folder, but not the gateway's secrets", async (t) => {
		process.env.XS_MCP_TEST_SECRET = "secret";
		t.after(() => delete process.env.XS_MCP_TEST_SECRET);
		const cwd = temporaryFolder();
		const { HOME, XS_MCP_TEST_SECRET, TOKEN, cwd: folder } = await seen(t, { cwd, env: { TOKEN: "mine" } });
		assert.deepEqual([HOME, XS_MCP_TEST_SECRET, TOKEN, folder], [process.env.HOME, undefined, "mine", cwd]);
	});

	it("gets nothing but its variables if it is isolated", async (t) => {
		const { HOME, TOKEN } = await seen(t, { env: { TOKEN: "mine" }, isolation: { environment: "given" } });
		assert.deepEqual([HOME, TOKEN], [undefined, "mine"]);
	});

	it("cannot take more memory than it may", { skip: lacks("prlimit") }, async (t) => {
		const isolation = { memory: 1_024, cpuTime: 100 };
		const args = ["-e", `Buffer.alloc(1_200_000_000, 1); import(${JSON.stringify(ODD_SERVER)})`];
		const large = { id: "large", command: process.execPath, args, isolation };
		await assert.rejects(connected(t, large), /Connection failed: the process /);
		assert.ok((await seen(t, { isolation })).cwd, "Node.js needs far less than it reserves");
	});

	it("cannot be configured with less memory than Node.js needs, if it is a program of that", () => {
		const isolation = { memory: 100 };
		for (const command of ["node", "npx", process.execPath]) {
			assert.throws(() => serverConfig({ id: "one", command, isolation }), {
				name: "McpError",
				message: /^isolation\.memory: Node\.js [0-9.]+ needs at least (128|640) \(MB\), got 100$/,
			});
		}
		assert.equal(serverConfig({ id: "one", command: "/bin/sh", isolation }).isolation.memory, 100);
	});

	it("that is ended by its limit of memory says so", { skip: lacks("prlimit") }, async (t) => {
		const args = ["-c", "kill -ABRT $$"];
		const aborted = { id: "aborted", command: "/bin/sh", args, isolation: { memory: 64 } };
		await assert.rejects(connected(t, aborted), /ended by SIGABRT \(its memory is limited to 64 MB\)/);
	});

	it("names the program that is missing for its sandbox", {
		skip: lacks("bwrap") === false && "bwrap is installed",
	}, async (t) => {
		const input = { ...nodeServer("odd", ODD_SERVER), isolation: { sandbox: "bubblewrap" as const } };
		await assert.rejects(connected(t, input), /bwrap/);
	});

	it("may read nothing in its sandbox but what programs need to start, and what is named", () => {
		const isolation = { sandbox: "bubblewrap" as const, readable: ["/srv/tool"] };
		const { args } = isolated(serverConfig({ id: "one", command: "run", cwd: "/srv/data", isolation }));
		const bound = args.filter((_, index) => /^--(ro-)?bind/.test(args[index - 1] ?? ""));
		assert.ok(bound.includes("/srv/tool") && bound.includes("/usr"));
		assert.deepEqual(
			bound.filter((path) => ["/", "/etc", "/home", "/root", "/var"].includes(path)),
			[],
		);
	});

	it("may have a working folder in the home folder, also in a sandbox", () => {
		const config = serverConfig({ id: "one", command: "run", cwd: "~/data", isolation: { sandbox: "bubblewrap" } });
		const { args } = isolated(config);
		const folder = `${homedir()}/data`;
		assert.equal(config.cwd, folder);
		assert.deepEqual(args.slice(args.indexOf("--bind"), args.indexOf("--bind") + 3), ["--bind", folder, folder]);
	});
});
