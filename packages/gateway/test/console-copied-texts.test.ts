import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import fc from "fast-check";
import { parse } from "shell-quote";
import { parse as parseToml } from "smol-toml";
import { connectionsTo } from "../console/views/connections.js";
import { asCommand, asJson, asTypeScript } from "../console/views/copies.js";
import { visible, visibleLine } from "../console/views/visible.js";
import { parseToolArguments } from "../src/cli/tool-arguments.js";

const URL_OF_GATEWAY = "http://127.0.0.1:8766/mcp";

const ROOT = new URL("../../../", import.meta.url);

const CURSOR_INSTALL = "cursor://anysphere.cursor-deeplink/mcp/install";

/** As Cursor and VS Code write it. */
const placeholder = (name: string): string => `$\{${name}}`;

const textFor = (name: string, needsToken: boolean) => {
	const found = connectionsTo(URL_OF_GATEWAY, { needsToken, hasExtension: false }).find((each) => each.name === name);
	assert.ok(found, name);
	return found;
};

describe("what the console offers to connect clients", () => {
	it("is a file for Claude Desktop where the gateway has one", () => {
		const downloads = (hasExtension: boolean) =>
			connectionsTo(URL_OF_GATEWAY, { needsToken: false, hasExtension }).flatMap(({ download }) => download ?? []);
		assert.deepEqual(downloads(true), ["http://127.0.0.1:8766/console/xs-mcp-gateway.mcpb"]);
		assert.deepEqual(downloads(false), []);
	});

	it("is the command of the gateway's own installation on its machine", () => {
		const bridge = { command: "/usr/bin/node", args: ["/opt/xs-mcp-gateway.mjs", "stdio"] };
		const [desktop] = connectionsTo(URL_OF_GATEWAY, { needsToken: true, hasExtension: false, bridge });
		assert.deepEqual(JSON.parse(desktop?.text ?? "").mcpServers.devices, {
			command: "/usr/bin/node",
			args: ["/opt/xs-mcp-gateway.mjs", "stdio", "--url", "http://127.0.0.1:8766"],
			env: { XS_MCP_GATEWAY_TOKEN: "xsmcp_…" },
		});
	});

	it("is the command for Claude Code of the documentation", () => {
		for (const [page, needsToken] of [
			["packages/gateway/README.md", false],
			["docs/first-device.md", false],
			["docs/gateway/connect-a-client.md", true],
		] as const) {
			const [command] = /^claude mcp add --transport http .*$/m.exec(readFileSync(new URL(page, ROOT), "utf8")) ?? [];
			assert.equal(command, textFor("Claude Code", needsToken).text, page);
		}
	});

	for (const needsToken of [false, true]) {
		const title = needsToken ? "with a token" : "without tokens";
		const headers = (value: string) => (needsToken ? { headers: { Authorization: `Bearer ${value}` } } : {});

		it(`is JSON of each client's form, ${title}`, () => {
			const desktop = JSON.parse(textFor("Claude Desktop", needsToken).text).mcpServers.devices;
			const header = needsToken ? ["--header", `Authorization:${placeholder("AUTHORIZATION")}`] : [];
			assert.deepEqual(desktop.args, ["-y", "mcp-remote", URL_OF_GATEWAY, ...header]);
			assert.equal(desktop.env?.AUTHORIZATION, needsToken ? "Bearer xsmcp_…" : undefined);
			const cursor = JSON.parse(textFor("Cursor", needsToken).text).mcpServers.devices;
			assert.deepEqual(cursor, { url: URL_OF_GATEWAY, ...headers(placeholder("env:XS_MCP_GATEWAY_TOKEN")) });
			const code = JSON.parse(textFor("VS Code", needsToken).text);
			assert.deepEqual(code.servers.devices, {
				type: "http",
				url: URL_OF_GATEWAY,
				...headers(placeholder("input:xs-mcp-token")),
			});
			assert.equal(code.inputs?.[0].id, needsToken ? "xs-mcp-token" : undefined);
			const gemini = JSON.parse(textFor("Gemini CLI", needsToken).text).mcpServers.devices;
			assert.deepEqual(gemini, { httpUrl: URL_OF_GATEWAY, ...headers("xsmcp_…") });
		});

		it(`is a command that a shell reads, ${title}`, () => {
			const words = parse(textFor("Claude Code", needsToken).text);
			const header = needsToken ? ["--header", "Authorization: Bearer xsmcp_…"] : [];
			const url = `${URL_OF_GATEWAY}?catalog=full`;
			assert.deepEqual(words, ["claude", "mcp", "add", "--transport", "http", "devices", url, ...header]);
		});

		it(`has links that Cursor and VS Code read, ${title}`, () => {
			const cursor = new URL(textFor("Cursor", needsToken).link ?? "");
			const config = JSON.parse(Buffer.from(cursor.searchParams.get("config") ?? "", "base64").toString());
			assert.equal(`${cursor.protocol}//${cursor.host}${cursor.pathname}`, CURSOR_INSTALL);
			assert.equal(cursor.searchParams.get("name"), "devices");
			assert.deepEqual(config, JSON.parse(textFor("Cursor", needsToken).text).mcpServers.devices);
			const code = new URL(textFor("VS Code", needsToken).link ?? "");
			assert.equal(`${code.protocol}${code.pathname}`, "vscode:mcp/install");
			const { name, inputs, ...server } = JSON.parse(decodeURIComponent(code.search.slice(1)));
			assert.equal(name, "devices");
			assert.deepEqual(
				{ servers: { devices: server }, ...(inputs && { inputs }) },
				JSON.parse(textFor("VS Code", needsToken).text),
			);
		});

		it(`is TOML for Codex, ${title}`, () => {
			const token = needsToken && { bearer_token_env_var: "XS_MCP_GATEWAY_TOKEN" };
			// A TOML table has no prototype.
			assert.deepEqual(structuredClone(parseToml(textFor("Codex", needsToken).text)), {
				mcp_servers: { devices: { url: URL_OF_GATEWAY, ...token } },
			});
		});
	}
});

describe("a call that is copied", () => {
	const call = { url: URL_OF_GATEWAY, device: "lamp", tool: "self_set" };
	const schema = {
		type: "object",
		properties: {
			text: { type: "string" },
			count: { type: "integer" },
			on: { type: "boolean" },
			list: { type: "array" },
		},
	};

	it("as a command has the same arguments, whatever is in them", () => {
		const args = fc.record({
			text: fc.string({ unit: "grapheme-ascii" }),
			count: fc.integer(),
			on: fc.boolean(),
			list: fc.array(fc.string({ unit: "grapheme-ascii" })),
		});
		fc.assert(
			fc.property(args, (given) => {
				const words = parse(asCommand({ ...call, args: given })) as string[];
				assert.deepEqual(words.slice(0, 4), ["xs-mcp-gateway", "call", "lamp", "self_set"]);
				assert.deepEqual(parseToolArguments(schema, words.slice(4)), { ...given });
			}),
		);
	});

	it("as JSON is a request of MCP, and as TypeScript a module", () => {
		const args = { text: 'a"b' };
		const { method, params } = JSON.parse(asJson({ ...call, args }));
		assert.deepEqual([method, params], ["tools/call", { name: "self_set", arguments: args }]);
		assert.match(asTypeScript({ ...call, args }), /callTool\(\{ name: "self_set", arguments: \{"text":"a\\"b"\} \}\)/);
	});
});

describe("a device's text in the console", () => {
	it("has visible control characters, and none that reverse or hide it", () => {
		assert.equal(visible("a\u0000b\u001b[2Jc\u202ed\u200b\ufeff\u0085"), "a␀b␛[2Jc\\u202ed\\u200b\\ufeff\\u0085");
		assert.equal(visible("one\n\ttwo"), "one\n\ttwo");
		assert.equal(visibleLine("one\n\ttwo"), "one␊␉two");
	});

	it("is cut if it is very long", () => {
		assert.ok(visible("x".repeat(1_000_000)).length < 21_000);
	});
});
