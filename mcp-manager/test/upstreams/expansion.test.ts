import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readServers } from "../../src/upstreams/read-servers.js";
import { problemText } from "../../src/upstreams/servers-file.js";

const read = (entry: object, environment: Record<string, string> = {}) =>
	readServers(JSON.stringify({ servers: [{ id: "one", ...entry }] }), "f.json", environment);

const problemsOf = (...args: Parameters<typeof read>): string[] => read(...args).problems.map(problemText);

describe("an environment variable in a file of servers", () => {
	it("stays one word of a command, whatever its value is", () => {
		const { configs } = read(
			{ url: `run \${FOLDER} --name='\${NAME:-my files}' last`, args: [`\${FOLDER}`] },
			{ FOLDER: `/my "own" files` },
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

describe("a file of another host", () => {
	const readHost = (entry: object, file: string, environment: Record<string, string> = {}) =>
		readServers(JSON.stringify({ inputs: [], servers: { one: { command: "run", ...entry } } }), file, environment);

	it("has environment variables as Cursor writes them, and folders", () => {
		const entry = { args: [`\${env:KEY}`, `\${workspaceFolder}/data`] };
		for (const file of ["/project/.vscode/mcp.json", "/project/.cursor/mcp.json", "/project/mcp.json"]) {
			assert.deepEqual(readHost(entry, file, { KEY: "k" }).configs[0]?.args, ["k", "/project/data"]);
		}
	});

	it("has inputs as VS Code writes them, whose values are environment variables here", () => {
		const entry = { env: { KEY: `\${input:api-key}` } };
		assert.equal(readHost(entry, "f.json", { API_KEY: "k" }).configs[0]?.env.KEY, "k");
		const { problems } = readHost(entry, "f.json");
		assert.match(problems[0]?.message ?? "", /input api-key cannot be asked for: set the environment variable API_KEY/);
	});

	it("has a time limit in seconds, as Cline writes it", () => {
		assert.equal(readHost({ timeout: 60 }, "f.json").configs[0]?.timeout, 60_000);
		assert.equal(readHost({ timeout: 5_000 }, "f.json").configs[0]?.timeout, 5_000);
	});
});
