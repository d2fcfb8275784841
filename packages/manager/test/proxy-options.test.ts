import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { readProxyOptions } from "../src/proxy/proxy-options.js";
import { PROXY } from "../testing/proxy.js";

const UPSTREAM = "http://127.0.0.1:1/mcp";

describe("the proxy's options", () => {
	it("are taken from the environment", () => {
		const environment = {
			MCP_UPSTREAM: UPSTREAM,
			MCP_NAME: "penpot-official",
			MCP_SKILL: "/penpot",
			MCP_TOOLS: "execute_code,export_shape",
			MCP_INIT_SCRIPT: "init.js",
			MCP_INIT_TOOL: "run",
			MCP_TOKEN: "secret",
			MCP_CONNECT_TIMEOUT: "20000",
		};
		const { upstream, ...rest } = readProxyOptions({}, environment);
		assert.deepEqual(upstream.headers, { Authorization: "Bearer secret" });
		assert.deepEqual(rest, {
			name: "penpot-official",
			skill: "/penpot",
			tools: ["execute_code", "export_shape"],
			init: { script: "init.js", tool: "run" },
			connectTimeout: 20_000,
		});
		assert.equal(readProxyOptions({}, { ...environment, MCP_NO_INIT: "true" }).init, undefined);
		assert.notEqual(readProxyOptions({}, { ...environment, MCP_NO_INIT: "false" }).init, undefined);
	});

	it("have headers for the upstream, from repeated flags or from lines; one of them replaces the token", () => {
		const given = ["X-Key: a:b", "authorization: Basic c"];
		const flags = readProxyOptions({ upstream: UPSTREAM, header: given }, { MCP_TOKEN: "secret", MCP_HEADERS: "X: y" });
		assert.deepEqual(flags.upstream.headers, { authorization: "Basic c", "X-Key": "a:b" });
		const lines = readProxyOptions({ upstream: UPSTREAM }, { MCP_TOKEN: "secret", MCP_HEADERS: "X: y\nZ:1\n" });
		assert.deepEqual(lines.upstream.headers, { Authorization: "Bearer secret", X: "y", Z: "1" });
	});

	it("have variables for an upstream that is a command, by name or with a value", () => {
		const envOf = (flags: object, environment = {}) =>
			readProxyOptions({ upstream: "run", ...flags }, { KEY: "k", OTHER: "o", ...environment }).upstream.env;
		assert.deepEqual(envOf({}), {});
		assert.deepEqual(envOf({ env: ["KEY", "NAME=a=b", "EMPTY="] }), { KEY: "k", NAME: "a=b", EMPTY: "" });
		assert.deepEqual(envOf({}, { MCP_ENV: "KEY, OTHER" }), { KEY: "k", OTHER: "o" });
		assert.deepEqual(envOf({ passEnv: true, env: ["KEY=x"] }), { KEY: "x", OTHER: "o" });
		assert.deepEqual(envOf({}, { MCP_PASS_ENV: "1" }), { KEY: "k", OTHER: "o", MCP_PASS_ENV: "1" });
		assert.throws(() => envOf({ env: ["NONE"] }), /--env: the environment variable NONE is not set/);
		assert.throws(() => envOf({ env: ["=x"] }), /--env: expected NAME or NAME=value/);
	});

	it("name a header that is not valid, without its value", () => {
		for (const [header, message] of [
			["secret", "--header: number 1: expected 'Name: value'"],
			["X-Key: secret\u0001", "--header X-Key: invalid character in the header's value"],
		] as const) {
			const { stderr, status } = spawnSync(process.execPath, [PROXY, "--upstream", UPSTREAM, "--header", header], {
				encoding: "utf8",
			});
			assert.deepEqual([stderr.trim(), status], [`xs-mcp-proxy: ${message}`, 2]);
		}
	});

	it("are those of the flags where both are given", () => {
		const flags = { upstream: UPSTREAM, name: "flag", skill: "", tools: "*", initScript: "flag.js", initTool: "flag" };
		const environment = {
			MCP_UPSTREAM: "http://other/mcp",
			MCP_NAME: "variable",
			MCP_SKILL: "/variable",
			MCP_TOOLS: "variable",
			MCP_INIT_SCRIPT: "variable.js",
			MCP_INIT_TOOL: "variable",
		};
		const { upstream, ...rest } = readProxyOptions(flags, environment);
		assert.equal(upstream.url, UPSTREAM);
		assert.deepEqual(rest, { name: "flag", skill: "", tools: undefined, init: { script: "flag.js", tool: "flag" } });
	});

	it("are empty in a preset's environment if nobody sets them: the defaults apply", () => {
		const { name, tools, init } = readProxyOptions(
			{ upstream: UPSTREAM },
			{ MCP_NAME: "", MCP_TOOLS: "", MCP_INIT_SCRIPT: "", MCP_NO_INIT: "" },
		);
		assert.deepEqual({ name, tools, init }, { name: "mcp-proxy", tools: undefined, init: undefined });
	});

	it("need an upstream, and say which flag or variable is wrong", () => {
		assert.throws(() => readProxyOptions({}, {}), /--upstream: missing.*MCP_UPSTREAM/);
		assert.throws(() => readProxyOptions({ upstream: "ftp://host/x" }, {}), /--upstream: Invalid protocol.*ftp/);
		assert.throws(
			() => readProxyOptions({ upstream: UPSTREAM }, { MCP_NO_INIT: "maybe" }),
			/MCP_NO_INIT: expected true or false/,
		);
		const { status, stderr } = spawnSync(process.execPath, [PROXY], { env: { ...process.env, MCP_UPSTREAM: "" } });
		assert.equal(status, 2);
		assert.match(stderr.toString(), /--upstream: missing/);
	});
});
