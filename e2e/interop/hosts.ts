// Applications with a language model that npm has: how each is started with the gateway and a scripted model.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { Program } from "../../host-test/support/program.js";
import { temporaryFolder } from "../../host-test/support/testing.js";
import { findPeer } from "./peers.js";
import type { ScriptedApi } from "./scripted-api.js";

const peer = findPeer("MCP_HOSTS");

const BRIDGE = fileURLToPath(new URL("../../packages/gateway/xs-mcp-gateway.mjs", import.meta.url));

/** How a host reaches the gateway: itself, or by the bridge `xs-mcp-gateway stdio`. */
export type Way = "http" | "stdio";

/** A server that a host connects to, or starts. */
type HostedServer =
	| { readonly url: string }
	| {
			readonly command: string;
			readonly args: readonly string[];
			readonly env: Readonly<Record<string, string>>;
	  };

interface Start {
	readonly server: HostedServer;
	readonly model: string;
	readonly home: string;
	readonly prompt: string;
}

interface Host {
	readonly title: string;
	readonly skip: string | false;
	/** Has the host answer a prompt with a scripted model, which it may reach at the third attempt. Settles with what it printed. */
	run(t: TestContext, start: Omit<Start, "model" | "home"> & { readonly model: ScriptedApi }): Promise<string>;
}

interface Command {
	readonly args: readonly string[];
	readonly env: Record<string, string>;
}

/** @param base the URL of a gateway */
export const gatewayAt = (base: string, way: Way = "http"): HostedServer =>
	way === "http"
		? { url: `${base}/mcp` }
		: { command: process.execPath, args: [BRIDGE, "stdio"], env: { XS_MCP_GATEWAY_URL: base } };

function codex({ server, model, home, prompt }: Start): Command {
	const entries = Object.entries(server).map(([name, value]) => `mcp_servers.devices.${name}=${toToml(value)}`);
	const settings = [
		`model_providers.scripted={name="scripted",base_url="${model}/v1",wire_api="responses"}`,
		'model_provider="scripted"',
		'model="scripted"',
		...entries,
		// It asks before a tool that may destroy something, and `exec` has nobody to ask.
		'mcp_servers.devices.default_tools_approval_mode="approve"',
		"mcp_servers.devices.startup_timeout_sec=60",
		// Otherwise the model may answer before the server has started.
		"mcp_servers.devices.required=true",
	].flatMap((setting) => ["-c", setting]);
	return { args: ["exec", "--skip-git-repo-check", ...settings, prompt], env: { CODEX_HOME: home } };
}

/** A string, a list, or a table in one line. */
function toToml(value: string | readonly string[] | Readonly<Record<string, string>>): string {
	if (typeof value === "string" || Array.isArray(value)) {
		return JSON.stringify(value);
	}
	return `{${Object.entries(value).map(([name, text]) => `${name}=${JSON.stringify(text)}`)}}`;
}

function gemini({ server, model, home, prompt }: Start): Command {
	const { url, ...program } = { url: undefined, ...server };
	mkdirSync(join(home, ".gemini"), { recursive: true });
	const settings = {
		mcpServers: { devices: { ...(url === undefined ? program : { httpUrl: url }), trust: true } },
		security: { auth: { selectedType: "gemini-api-key" } },
		privacy: { usageStatisticsEnabled: false },
	};
	writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
	return {
		args: ["-m", "gemini-2.5-flash", "-p", prompt],
		env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model, GEMINI_CLI_TRUST_WORKSPACE: "true" },
	};
}

function claude({ server, model, home, prompt }: Start): Command {
	const config = join(home, "servers.json");
	writeFileSync(
		config,
		JSON.stringify({ mcpServers: { devices: "url" in server ? { type: "http", ...server } : server } }),
	);
	const flags = ["--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__devices"];
	return {
		args: ["-p", prompt, "--model", "claude-sonnet-4-5", ...flags],
		env: {
			ANTHROPIC_BASE_URL: model,
			ANTHROPIC_API_KEY: "none",
			CLAUDE_CONFIG_DIR: home,
			CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
			MCP_CONNECTION_NONBLOCKING: "false",
			MCP_CONNECT_TIMEOUT_MS: "60000",
			ENABLE_TOOL_SEARCH: "false",
		},
	};
}

export const HOSTS: readonly Host[] = [
	hostOf("@openai/codex", "codex", codex),
	hostOf("@google/gemini-cli", "gemini", gemini),
	hostOf("@anthropic-ai/claude-code", "claude", claude),
];

function hostOf(name: string, program: string, commandOf: (start: Start) => Command): Host {
	return {
		title: titleOf(name),
		skip: peer.skip,
		async run(t, { model, ...start }) {
			const home = temporaryFolder();
			const { args, env } = commandOf({ ...start, model: model.url, home });
			const command = join(peer.folder ?? "", "node_modules/.bin", program);
			let output = "";
			for (let attempt = 0; attempt < 3 && model.results.length === 0; attempt += 1) {
				model.offered.length = 0;
				const own = { HOME: home, NODE_TEST_CONTEXT: undefined, ...env };
				const host = await Program.start(args, () => true, { command, cwd: home, env: own });
				t.after(() => host.stop("SIGKILL"));
				host.endInput();
				await host.ended();
				output = host.output;
			}
			return output;
		},
	};
}

function titleOf(name: string): string {
	if (peer.folder === undefined) {
		return name;
	}
	const { version } = JSON.parse(readFileSync(join(peer.folder, "node_modules", name, "package.json"), "utf8"));
	return `${name} ${version}`;
}
