// The proxy as a host starts it, and what its tests ask of it.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import { connectOverStdio } from "../../../host-test/support/stdio-client.js";
import { startEverything } from "./upstreams.js";

export const PROXY = fileURLToPath(new URL("../xs-mcp-proxy.mjs", import.meta.url));

/** Messages of the proxy to models, in Japanese first. */
export const DISCONNECTED = "上流MCP切断。activate を再度呼んでください";
export const NOT_RECONNECTED = "自動再接続失敗。上流サービスの状態を確認してください";

/** server-everything over Streamable HTTP, which can be killed and started again on its port. */
export async function startUpstream(t: TestContext, onPort?: number) {
	const { child, port } = await startEverything(t, "streamableHttp", onPort);
	return {
		port,
		url: `http://127.0.0.1:${port}/mcp`,
		async kill() {
			const exited = once(child, "exit");
			child.kill("SIGKILL");
			await exited;
		},
	};
}

/** Longer than any machine that runs the tests is busy. */
const PATIENCE = { MCP_CONNECT_TIMEOUT: "300000" };

/** The SDK's client over stdio, which starts the proxy. It counts the notifications of changed lists. */
export async function startProxy(t: TestContext, args: readonly string[], environment: Record<string, string> = {}) {
	const env = { ...PATIENCE, ...environment };
	const { client, log } = await connectOverStdio(t, [PROXY, ...args], env, { versionNegotiation: { mode: "legacy" } });
	const changes = { tools: 0, resources: 0, prompts: 0 };
	for (const list of ["tools", "resources", "prompts"] as const) {
		client.setNotificationHandler(`notifications/${list}/list_changed`, () => {
			changes[list] += 1;
		});
	}
	return { client, log, changes };
}

export async function startBoth(
	t: TestContext,
	args: readonly string[] = [],
	environment: Record<string, string> = {},
) {
	const upstream = await startUpstream(t);
	return { upstream, ...(await startProxy(t, ["--upstream", upstream.url, ...args], environment)) };
}

export async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<CallToolResult> {
	return (await client.callTool({ name, arguments: args })) as CallToolResult;
}

/** The text of a result, which must be an error, or must not be one. */
export function textOf({ content, isError = false }: CallToolResult, expectError: boolean): string {
	const text = content.map((block) => (block.type === "text" ? block.text : block.type)).join("\n");
	assert.equal(isError, expectError, text);
	return text;
}

export async function echo(client: Client, message: string): Promise<void> {
	assert.equal(textOf(await call(client, "echo", { message }), false), `Echo: ${message}`);
}
