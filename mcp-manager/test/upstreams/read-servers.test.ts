import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { problemText } from "../../src/upstreams/config-problem.js";
import { readServers } from "../../src/upstreams/read-servers.js";
import type { ServerConfig } from "../../src/upstreams/server-config.js";

function read(content: object | string, environment = {}) {
	const text = typeof content === "string" ? content : JSON.stringify(content, undefined, "\t");
	const { configs, problems, isBroken } = readServers(text, "mcp-servers.json", environment);
	return { configs, problems: problems.map(problemText), isBroken };
}

function only({ configs, problems }: ReturnType<typeof read>): ServerConfig {
	assert.deepEqual(problems, []);
	assert.equal(configs.length, 1);
	return configs[0] as ServerConfig;
}

const inList = (...servers: object[]) => read({ version: "1.0", $schema: "./mcp-servers.schema.json", servers });

describe("the file of servers", () => {
	it("has the documented fields and defaults", () => {
		const { id, url, transport, enabled, timeout, autoApprove } = only(
			inList({ id: "my-server", url: "http://localhost:3000/mcp", name: "Mine", description: "A server" }),
		);
		assert.deepEqual(
			{ id, url, transport, enabled, timeout, autoApprove },
			{
				id: "my-server",
				url: "http://localhost:3000/mcp",
				transport: "http",
				enabled: false,
				timeout: 30_000,
				autoApprove: false,
			},
		);
	});

	for (const [url, transport] of [
		["http://localhost:3000/mcp", "http"],
		["https://example.com/mcp", "http"],
		["sse://localhost:3001/sse", "sse"],
		["http+sse://localhost/sse", "sse"],
		["https+sse://localhost/sse", "sse"],
		["ws://localhost/mcp", "websocket"],
		["wss://localhost/mcp", "websocket"],
		["npx -y @anthropic/mcp-server", "stdio"],
	] as const) {
		it(`tells from ${url} that the transport is ${transport}`, () => {
			assert.equal(only(inList({ id: "a", url })).transport, transport);
		});
	}

	it("lets an explicit transport win over the URL", () => {
		assert.equal(only(inList({ id: "a", url: "http://localhost:3001/sse", transport: "sse" })).transport, "sse");
	});

	it("splits a command at its spaces, except in quotes", () => {
		const { command, args } = only(inList({ id: "a", url: "npx -y server \"/my files\" --name='a b'" }));
		assert.deepEqual([command, ...args], ["npx", "-y", "server", "/my files", "--name=a b"]);
	});

	it("shows people a command or URL without the values of environment variables", () => {
		const { configs } = read(
			`servers:
  - { id: a, url: 'run --key \${KEY}' }
  - { id: b, url: 'http://localhost/\${KEY}' }
`,
			{ KEY: "secret" },
		);
		const found = configs.map(({ shown, url, args }) => ({ shown, url, args }));
		assert.deepEqual(found, [
			{ shown: `run --key \${KEY}`, url: "", args: ["--key", "secret"] },
			{ shown: `http://localhost/\${KEY}`, url: "http://localhost/secret", args: [] },
		]);
	});

	it("may be YAML, whose options apply to every server", () => {
		const { configs, problems } = read(
			`servers:
  - name: serena
    transport: stdio
    command: serena-mcp
    env:
      SERENA_PROJECT_ROOT: \${PROJECT_ROOT}
  - name: custom-api
    transport: http
    url: http://localhost:8080/mcp
    headers:
      Authorization: Bearer \${API_KEY:-none}
options:
  maxParallel: 5
  timeout: 20000
  retryPolicy: { maxRetries: 3, initialDelay: 1000, maxDelay: 10000, backoffMultiplier: 2 }
`,
			{ PROJECT_ROOT: "/projects" },
		);
		assert.deepEqual(problems, []);
		const [serena, api] = configs;
		assert.deepEqual(serena?.env, { SERENA_PROJECT_ROOT: "/projects" });
		assert.equal(serena?.enabled, true);
		assert.equal(serena?.maxParallel, 5);
		assert.equal(api?.timeout, 20_000);
		assert.equal(api?.retryPolicy?.maxRetries, 3);
		assert.deepEqual(api?.headers, { Authorization: "Bearer none" });
	});

	it("may have mcpServers, as hosts write them", () => {
		const { configs, problems } = read({
			mcpServers: {
				"My files": { command: "npx", args: ["-y", "server-filesystem", "/tmp"], alwaysAllow: ["read_file"] },
				remote: { type: "sse", url: "http://localhost/sse", disabled: true, extra: 1 },
			},
		});
		assert.deepEqual(problems, []);
		assert.deepEqual(
			configs.map(({ id, name, transport, enabled, autoApprove }) => ({ id, name, transport, enabled, autoApprove })),
			[
				{ id: "My-files", name: "My files", transport: "stdio", enabled: true, autoApprove: ["read_file"] },
				{ id: "remote", name: "remote", transport: "sse", enabled: false, autoApprove: false },
			],
		);
	});

	it("keeps the good servers, and names file, line and field of what is wrong with the others", () => {
		const { configs, problems } = read(`{
	"servers": [
		{ "id": "good", "url": "http://localhost/mcp" },
		{ "id": "no spaces", "url": "http://localhost/mcp" },
		{ "id": "good", "url": "http://localhost/other" },
		{
			"id": "slow",
			"url": "http://localhost/mcp",
			"timeout": 5
		},
		{ "id": "typo", "url": "http://localhost/mcp", "enbaled": true },
		{ "id": "empty" },
		{ "id": "secret", "url": "http://localhost/mcp", "headers": { "Authorization": "\${TOKEN}" } },
		{ "id": "odd", "url": "ftp://localhost", "transport": "http" }
	]
}`);
		const ids = configs.map(({ id }) => id);
		assert.deepEqual(ids, ["good"]);
		assert.deepEqual(problems, [
			'Invalid MCP config: mcp-servers.json:4: servers[1].id: must contain only alphanumeric characters, underscores and hyphens, got "no spaces"',
			"Invalid MCP config: mcp-servers.json:5: servers[2].id: duplicate id 'good'",
			"Invalid MCP config: mcp-servers.json:9: servers[3].timeout: Too small: expected number to be >=1000, got 5",
			"Invalid MCP config: mcp-servers.json:11: servers[4].enbaled: unknown field",
			"Invalid MCP config: mcp-servers.json:12: servers[5].url: expected either url or command",
			"Invalid MCP config: mcp-servers.json:13: servers[6].headers.Authorization: the environment variable TOKEN is not set",
			'Invalid MCP config: mcp-servers.json:14: servers[7].url: Invalid protocol: use http://, https://, sse://, ws:// or a command, got "ftp://localhost"',
		]);
	});

	for (const [content, problem] of [
		['{\n\t"servers": [\n\t\t{ "id": "a" "url": 1 }\n\t]\n}', '3: invalid JSON: unexpected "url"'],
		['{\n\t"servers": [\n\t\t{ "id": "a" }\n\t\t{ "id": "b" }\n\t]\n}', "4: invalid JSON: unexpected {"],
		['{\n\t"servers": [\n\t\t{ "id": "a" }\n}\n', "4: invalid JSON: unexpected }"],
		['{ "servers": [\n', "2: invalid JSON: unexpected end of file"],
		['{ "servers": [{ "id": "a" }] }}', "1: invalid JSON: unexpected }"],
		['{ "servers": [], "servers": [] }', '1: invalid JSON: duplicate member "servers"'],
		["servers:\n - id: a\n  url: b", "3: invalid YAML: Sequence item without - indicator"],
	] as const) {
		it(`is broken as a whole if it is not JSON or YAML, and the line is named: ${problem}`, () => {
			const { isBroken, problems } = read(content);
			assert.equal(isBroken, true);
			assert.deepEqual(problems, [`Failed to parse MCP config file mcp-servers.json:${problem}`]);
		});
	}

	it("is broken if it has neither servers nor mcpServers", () => {
		assert.deepEqual(read({ other: [] }).problems, [
			"Failed to parse MCP config file mcp-servers.json:1: expected an object with servers or mcpServers",
		]);
	});
});
