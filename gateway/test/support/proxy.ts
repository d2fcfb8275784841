// The proxy as a host starts it, and what its tests ask of it.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { TestContext } from "node:test";
import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import { startClient } from "./command-line.js";
import { startEverything } from "./upstreams.js";

/** The error texts of document 2. */
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

/** The SDK's client over stdio, which starts the proxy. It counts the notifications of changed lists. */
export async function startProxy(t: TestContext, args: readonly string[], environment: Record<string, string> = {}) {
	const { client, log } = await startClient(t, ["proxy", ...args], environment);
	const changes = { count: 0 };
	client.setNotificationHandler("notifications/tools/list_changed", () => {
		changes.count += 1;
	});
	return { client, log, changes };
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
