import { execFileSync } from "node:child_process";

export interface Peer {
	readonly title: string;
	/** Its checkout. Undefined: it is not here. */
	readonly folder: string | undefined;
	/** For `describe`: why it does not run, or false. */
	readonly skip: string | false;
}

export const VARIABLES = [
	{ variable: "XIAOZHI_SERVER", repository: "xinnan-tech/xiaozhi-esp32-server" },
	{ variable: "XIAOZHI_MQTT_GATEWAY", repository: "xinnan-tech/xiaozhi-mqtt-gateway" },
	{ variable: "PY_XIAOZHI", repository: "huangjunsen0406/py-xiaozhi" },
	{ variable: "MCP_CALCULATOR", repository: "78/mcp-calculator" },
	{ variable: "MCP_ENDPOINT_SERVER", repository: "xinnan-tech/mcp-endpoint-server" },
	{
		variable: "MCP_HOSTS",
		repository: "@openai/codex, @google/gemini-cli and @anthropic-ai/claude-code, installed there by npm",
	},
	{ variable: "EMQX_SDK", repository: "emqx/mcp-python-sdk, installed with pip" },
	{ variable: "AI_SDK", repository: "@ai-sdk/mcp, installed there by npm" },
] as const;

export function findPeer(variable: (typeof VARIABLES)[number]["variable"]): Peer {
	const repository = VARIABLES.find((each) => each.variable === variable)?.repository;
	const folder = process.env[variable];
	if (!folder) {
		return { title: `${repository}`, folder: undefined, skip: `${variable} is not set` };
	}
	return { title: `${repository} ${versionOf(folder)}`, folder, skip: false };
}

function versionOf(folder: string): string {
	const git = (...args: string[]): string =>
		execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
	try {
		return `${git("describe", "--tags", "--always")}, ${git("log", "-1", "--format=%cs")}`;
	} catch {
		return "of unknown version";
	}
}
