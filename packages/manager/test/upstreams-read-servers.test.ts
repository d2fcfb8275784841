import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { McpError } from "../src/core/errors.js";
import { problemText } from "../src/upstreams/configured-servers.js";
import { readServers } from "../src/upstreams/read-servers.js";
import { fieldProblemOf, type ServerConfig } from "../src/upstreams/server-config.js";

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
		assert.deepEqual(problems, [
			"Invalid MCP config: mcp-servers.json:18: mcpServers.remote.extra: unknown field, ignored",
		]);
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
			"Invalid MCP config: mcp-servers.json:9: servers[3].timeout: expected number to be >=1000, got 5",
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

/** The only server of a host's file, and what is reported of it. */
function readHost(entry: object, environment = {}) {
	const { configs, problems } = read({ mcpServers: { a: entry } }, environment);
	return { config: configs[0], problems };
}

describe("a host's file with comments", () => {
	it("is read as JSON: a comment hides no member", () => {
		const text = `\uFEFF// my servers
{
	"mcpServers": {
		// "old": { "command": "old" },
		"off": { "command": "node", // not now
			"disabled": true },
		"on": {
			/* a path */ "command": "node", "args": [ // a script
				"s.js", "// not a comment"],
			"tools": { "deny": ["write"] }, "isolation": { "sandbox": "bubblewrap" },
		},
	}
}`;
		const { configs, problems } = read(text);
		assert.deepEqual(problems, []);
		const [off, on] = configs;
		assert.deepEqual([configs.length, off?.enabled, on?.enabled], [2, false, true]);
		assert.deepEqual(on?.args, ["s.js", "// not a comment"]);
		assert.deepEqual([on?.tools.deny, on?.isolation.sandbox], [["write"], "bubblewrap"]);
	});

	for (const text of ["{'mcpServers': {}}", "{mcpServers: {}}", '{"mcpServers": {"a": {command: node}}}', "{"]) {
		it(`is broken as a whole if it is no JSON: ${text}`, () => {
			const { isBroken, problems } = read(text);
			assert.equal(isBroken, true);
			assert.match(problems[0] ?? "", /invalid JSON: unexpected /);
		});
	}
});

describe("the entry of a host", () => {
	for (const [what, entry, expected] of [
		[
			"variables of its own",
			{ args: [`--header=\${KEY}`], env: { KEY: "k", PATH: `\${PATH}:/x` } },
			{ args: ["--header=k"], env: { KEY: "k", PATH: "/bin:/x" } },
		],
		[
			"numbers and booleans in its environment",
			{ env: { PORT: 3000, DEBUG: true, NONE: null } },
			{ env: { PORT: "3000", DEBUG: "true" } },
		],
		["numbers in its arguments", { args: ["--port", 3000, false] }, { args: ["--port", "3000", "false"] }],
		[
			"a command in a list",
			{ command: ["npx", "-y"], args: ["s"], environment: { A: "1" } },
			{ command: "npx", args: ["-y", "s"], env: { A: "1" } },
		],
		["a list of tools", { type: "local", tools: ["read_*"] }, { tools: { allow: ["read_*"] } }],
		["tools that are left out", { excludeTools: ["write"] }, { tools: { deny: ["write"] } }],
		[
			"tools that are disabled",
			{ disabledTools: ["write"], tools: { allow: ["*"] } },
			{ tools: { deny: ["write"], allow: ["*"] } },
		],
		["ten minutes", { timeout: 600_000 }, { timeout: 600_000 }],
		["ten minutes in seconds", { timeout: 600 }, { timeout: 600_000 }],
		["a day", { timeout: 86_400_000 }, { timeout: 3_600_000 }],
		[
			"the URL of Gemini CLI",
			{ command: undefined, httpUrl: "https://h/mcp" },
			{ url: "https://h/mcp", transport: "http" },
		],
		["the URL of Windsurf", { command: undefined, serverUrl: "https://h/mcp" }, { url: "https://h/mcp" }],
		[
			"headers that are null or numbers",
			{ command: undefined, url: "https://h/mcp", headers: { A: 1, B: null } },
			{ headers: { A: "1" } },
		],
		[
			"null for each member",
			{ env: null, args: null, cwd: null, timeout: null, tools: null, disabled: null },
			{ enabled: true, args: [] },
		],
		["disabled and enabled", { disabled: true, enabled: true }, { enabled: false }],
		[
			"a variable that is not set, while it is disabled",
			{ disabled: true, env: { K: `\${UNSET_HERE}` } },
			{ enabled: false, env: { K: `\${UNSET_HERE}` } },
		],
		["members for people alone", { icon: "x", gallery: true, "//": "mine", version: "1" }, { command: "node" }],
	] as const) {
		it(`may have ${what}`, () => {
			const { config, problems } = readHost({ command: "node", ...entry }, { PATH: "/bin" });
			assert.deepEqual(problems, []);
			const found = Object.keys(expected).map((name) => [name, config?.[name as keyof ServerConfig]]);
			assert.deepEqual(Object.fromEntries(found), expected);
		});
	}

	it("is reported with members that are not known, and works", () => {
		const { config, problems } = readHost({ command: "node", envFile: ".env", type: "pipe" });
		assert.equal(config?.command, "node");
		assert.deepEqual(
			problems.map((problem) => problem.replace(/.*:\d+: /, "")),
			["mcpServers.a.envFile: unknown field, ignored", "mcpServers.a.type: unknown, ignored"],
		);
	});

	for (const wrong of [{ disabled: "yes" }, { tools: "none" }, { tools: { deny: "write" } }, { isolation: true }]) {
		it(`is not used if a member that restricts it is wrong: ${JSON.stringify(wrong)}`, () => {
			const { config, problems } = readHost({ command: "node", ...wrong });
			assert.equal(config, undefined);
			assert.equal(problems.length, 1);
		});
	}

	it("may be in a list, with its name", () => {
		const { configs, problems } = read(
			"mcpServers:\n  - name: a b\n    command: npx\n    args: [-y, x]\n  - command: b\n",
		);
		assert.deepEqual(
			configs.map(({ id, enabled, args }) => ({ id, enabled, args })),
			[{ id: "a-b", enabled: true, args: ["-y", "x"] }],
		);
		assert.match(problems.join(), /mcpServers\[1\]\.name: is missing/);
	});

	it("has an id of its own if its name is in another script", () => {
		const { configs, problems } = read({
			mcpServers: { "天气 服务": { command: "a" }, "地图 服务": { command: "b" } },
		});
		assert.deepEqual(problems, []);
		assert.equal(new Set(configs.map(({ id }) => id)).size, 2);
		assert.ok(configs.every(({ id }) => /^server-[0-9a-f]{6}$/.test(id)));
	});
});

const readOne = (entry: object, environment: Record<string, string> = {}) =>
	readServers(JSON.stringify({ servers: [{ id: "one", ...entry }] }), "f.json", environment);

const problemsOf = (...args: Parameters<typeof readOne>): string[] => readOne(...args).problems.map(problemText);

describe("an environment variable in a file of servers", () => {
	it("stays one word of a command, whatever its value is", () => {
		const { configs } = readOne(
			{ url: `run \${FOLDER} --name='\${NAME:-my files}' last`, args: [`\${FOLDER}`] },
			{ FOLDER: `/my "own" files` },
		);
		assert.deepEqual(configs[0]?.args, [`/my "own" files`, "--name=my files", "last", `/my "own" files`]);
	});

	it("does not become a command if its value is a URL", () => {
		const [config] = readOne({ url: `\${URL}` }, { URL: "http://localhost/mcp" }).configs;
		assert.deepEqual([config?.transport, config?.url], ["http", "http://localhost/mcp"]);
	});

	it("is not expanded in what is said about a wrong URL", () => {
		assert.deepEqual(problemsOf({ url: `ftp://host/\${KEY}` }, { KEY: "secret" }), [
			"Invalid MCP config: f.json:1: servers[0].url: Invalid protocol: " +
				`use http://, https://, sse://, ws:// or a command, got "ftp://host/\${KEY}"`,
		]);
	});

	it("is not quoted if it is a password in a URL, which works over WebSocket only", () => {
		for (const user of ["me", ""]) {
			assert.deepEqual(problemsOf({ url: `http://${user}:\${KEY}@host/mcp` }, { KEY: "secret" }), [
				"Invalid MCP config: f.json:1: servers[0].url: must not contain a user name or password: use auth (type basic)",
			]);
		}
		assert.deepEqual(problemsOf({ url: `ws://me:\${KEY}@host/mcp` }, { KEY: "secret" }), []);
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
	const readHostFile = (entry: object, file: string, environment: Record<string, string> = {}) =>
		readServers(JSON.stringify({ inputs: [], servers: { one: { command: "run", ...entry } } }), file, environment);

	it("has environment variables as Cursor writes them, and folders", () => {
		const entry = { args: [`\${env:KEY}`, `\${workspaceFolder}/data`] };
		for (const file of ["/project/.vscode/mcp.json", "/project/.cursor/mcp.json", "/project/mcp.json"]) {
			assert.deepEqual(readHostFile(entry, file, { KEY: "k" }).configs[0]?.args, ["k", "/project/data"]);
		}
	});

	it("has inputs as VS Code writes them, whose values are environment variables here", () => {
		const entry = { env: { KEY: `\${input:api-key}` } };
		assert.equal(readHostFile(entry, "f.json", { API_KEY: "k" }).configs[0]?.env.KEY, "k");
		const { problems } = readHostFile(entry, "f.json");
		assert.match(problems[0]?.message ?? "", /input api-key cannot be asked for: set the environment variable API_KEY/);
	});

	it("has a time limit in seconds, as Cline writes it", () => {
		assert.equal(readHostFile({ timeout: 60 }, "f.json").configs[0]?.timeout, 60_000);
		assert.equal(readHostFile({ timeout: 5_000 }, "f.json").configs[0]?.timeout, 5_000);
	});
});

it("an error that names no field of an entry is thrown again", () => {
	const error = new McpError("INVALID_REQUEST", "x");
	assert.throws(() => fieldProblemOf(error), error);
});
