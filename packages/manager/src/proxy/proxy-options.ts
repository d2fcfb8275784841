import { fieldProblemOf, type ServerConfig, serverConfig } from "../upstreams/server-config.js";

export type ProxyOptions = ReturnType<typeof readProxyOptions>;

type TextFlag = "upstream" | "name" | "skill" | "tools" | "connectTimeout" | "initScript" | "initTool";

/** The flags, as commander reads them. `init` is false if `--no-init` was given. */
export type ProxyFlags = { readonly [Flag in TextFlag]?: string } & {
	readonly header?: readonly string[];
	readonly env?: readonly string[];
	readonly passEnv?: boolean;
	readonly init?: boolean;
};

/** Milliseconds for a call. Hosts give up much earlier: this is for a network that fails silently. */
const CALL_TIMEOUT = 300_000;

/**
 * Merges flags, environment and defaults, in this order. An empty variable counts as absent, except `MCP_SKILL`: an
 * empty one turns a preset's gate off.
 *
 * @throws RangeError that names the flag
 */
export function readProxyOptions(flags: ProxyFlags, environment: NodeJS.ProcessEnv) {
	const url = flags.upstream || environment.MCP_UPSTREAM;
	if (!url) {
		throw new RangeError("--upstream: missing: the URL of the upstream MCP server (or the variable MCP_UPSTREAM)");
	}
	const script = flags.initScript ?? environment.MCP_INIT_SCRIPT;
	const isInitOff = flags.init === false || isOn("MCP_NO_INIT", environment.MCP_NO_INIT);
	const connectTimeout = flags.connectTimeout || environment.MCP_CONNECT_TIMEOUT;
	if (connectTimeout && !/^[1-9][0-9]{0,5}$/.test(connectTimeout)) {
		const given = JSON.stringify(connectTimeout);
		throw new RangeError(`--connect-timeout: expected milliseconds, from 1 to 999999, got ${given}`);
	}
	const lines = flags.header ?? (environment.MCP_HEADERS ?? "").split("\n").filter((line) => line.trim() !== "");
	const names = (flags.tools || environment.MCP_TOOLS || "*").split(",").map((each) => each.trim());
	return {
		upstream: upstreamConfig(url, headersOf(lines, environment.MCP_TOKEN), variablesOf(flags, environment)),
		/** The server name in the initialize result. */
		name: flags.name || environment.MCP_NAME || "mcp-proxy",
		/** The skill that the gate asks for; empty: no gate. */
		skill: flags.skill ?? environment.MCP_SKILL ?? "",
		/** The tools that the host sees; undefined: all. */
		tools: names.includes("*") ? undefined : names.filter((each) => each !== ""),
		/** Milliseconds for the upstream to connect, to list and to answer a ping. Default: 6 s (a command: 10 s), 5 s and 3 s. */
		...(connectTimeout && { connectTimeout: Number(connectTimeout) }),
		/** Script that `activate` runs on the upstream. Default: none. */
		...(script &&
			!isInitOff && { init: { script, tool: flags.initTool || environment.MCP_INIT_TOOL || "execute_code" } }),
	};
}

/** @throws RangeError without the value of a header, which may be a secret */
function headersOf(lines: readonly string[], token: string | undefined): Record<string, string> {
	// Keyed by lower-case name, so that an Authorization header replaces the token.
	const headers = new Map<string, [name: string, value: string]>();
	if (token) {
		headers.set("authorization", ["Authorization", `Bearer ${token}`]);
	}
	for (const [index, line] of lines.entries()) {
		const [, name, value] = /^\s*([^:\s]+)\s*:(.*)$/s.exec(line) ?? [];
		if (name === undefined || value === undefined) {
			throw new RangeError(`--header: number ${index + 1}: expected 'Name: value'`);
		}
		headers.set(name.toLowerCase(), [name, value.trim()]);
	}
	return Object.fromEntries(headers.values());
}

/** Environment variables for a stdio upstream, in addition to the default ones. */
function variablesOf({ env, passEnv }: ProxyFlags, environment: NodeJS.ProcessEnv): Record<string, string> {
	const named = env ?? (environment.MCP_ENV ?? "").split(",").filter((name) => name.trim() !== "");
	const isAll = passEnv ?? isOn("MCP_PASS_ENV", environment.MCP_PASS_ENV);
	const all = isAll ? (environment as Record<string, string>) : {};
	const given = named.map((each) => {
		const [, name = "", value] = /^\s*([^=\s]+)\s*(?:=(.*))?$/s.exec(each) ?? [];
		const found = value ?? environment[name];
		if (found === undefined) {
			throw new RangeError(
				name === "" ? "--env: expected NAME or NAME=value" : `--env: the environment variable ${name} is not set`,
			);
		}
		return [name, found] as const;
	});
	return { ...all, ...Object.fromEntries(given) };
}

function upstreamConfig(
	url: string,
	headers: Readonly<Record<string, string>>,
	env: Readonly<Record<string, string>>,
): ServerConfig {
	try {
		return serverConfig({ id: "upstream", url, timeout: CALL_TIMEOUT, headers, env });
	} catch (error) {
		const { field, problem } = fieldProblemOf(error);
		const [, header] = /^headers\.(.*)$/s.exec(field) ?? [];
		const flag = header === undefined ? "--upstream" : `--header ${header}`;
		throw new RangeError(`${flag}: ${problem}`, { cause: error });
	}
}

function isOn(variable: string, text = ""): boolean {
	if (!/^(?:true|false|1|0|)$/i.test(text)) {
		throw new RangeError(`${variable}: expected true or false, got ${JSON.stringify(text)}`);
	}
	return /^(?:true|1)$/i.test(text);
}
