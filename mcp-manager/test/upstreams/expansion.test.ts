import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { problemText } from "../../src/upstreams/config-problem.js";
import { readServers } from "../../src/upstreams/read-servers.js";

const read = (entry: object, environment: Record<string, string> = {}) =>
	readServers(JSON.stringify({ servers: [{ id: "one", ...entry }] }), "f.json", environment);

const problemsOf = (...args: Parameters<typeof read>): string[] => read(...args).problems.map(problemText);

describe("an environment variable in a file of servers", () => {
	it("stays one word of a command, whatever its value is", () => {
		const { configs } = read(
			{ url: `run \${FOLDER} --name='\${NAME:-my files}' last`, args: [`\${FOLDER}`] },
			{
				FOLDER: `/my "own" files`,
			},
		);
		assert.deepEqual(configs[0]?.args, [`/my "own" files`, "--name=my files", "last", `/my "own" files`]);
	});

	it("does not become a command if its value is a URL", () => {
		const [config] = read({ url: `\${URL}` }, { URL: "http://localhost/mcp" }).configs;
		assert.deepEqual([config?.transport, config?.url], ["http", "http://localhost/mcp"]);
	});

	it("is not expanded in what is said about a wrong URL", () => {
		assert.deepEqual(problemsOf({ url: `ftp://host/\${KEY}` }, { KEY: "secret" }), [
			"Invalid MCP config: f.json:1: servers[0].url: Invalid protocol: " +
				`use http://, https://, sse://, ws:// or a command, got "ftp://host/\${KEY}"`,
		]);
	});

	it("is not expanded in what is said about a wrong header", () => {
		const entry = { url: "http://localhost/mcp", headers: { Authorization: `Bearer \${KEY}` } };
		assert.deepEqual(problemsOf(entry, { KEY: "se\ncret" }), [
			"Invalid MCP config: f.json:1: servers[0].headers.Authorization: " + "invalid character in the header's value",
		]);
		assert.match(problemsOf({ ...entry, headers: { "a b": "1" } })[0] ?? "", /headers\.a b: invalid HTTP header name/);
	});
});
