// Other MCP servers for tests: the official ones from npm, and one that misbehaves on purpose.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { freePort, listen, until } from "../../../host-test/support/testing.js";
import { ServerRegistry, type ServerRegistryOptions } from "../src/core/registry.js";
import type { Server } from "../src/core/server.js";
import type { McpManagerOptions } from "../src/manager/mcp-types.js";
import { ConfiguredServers } from "../src/upstreams/configured-servers.js";
import { type ServerInput, serverConfig } from "../src/upstreams/server-config.js";

const modules = new URL("../../../node_modules/@modelcontextprotocol/", import.meta.url);
const programOf = (name: string): string => fileURLToPath(new URL(`server-${name}/dist/index.js`, modules));

export const EVERYTHING = programOf("everything");
export const FILESYSTEM = programOf("filesystem");
export const ODD_SERVER = fileURLToPath(new URL("odd-server.mjs", import.meta.url));

export function nodeServer(id: string, program: string, ...args: string[]) {
	return { id, command: process.execPath, args: [program, ...args] };
}

export async function openServers(
	t: TestContext,
	options: McpManagerOptions["options"] = {},
	registryOptions: ServerRegistryOptions = {},
) {
	const warnings: string[] = [];
	const warn = (warning: string): void => void warnings.push(warning);
	const registry = new ServerRegistry({ changeDelay: 10, ...registryOptions }, warn);
	const servers = new ConfiguredServers(registry, options);
	t.after(async () => {
		await servers.close();
		await registry.close();
	});
	return { registry, warnings, servers, add: (input: ServerInput) => servers.add(serverConfig(input)) };
}

export async function serveHttp(t: TestContext, listener: RequestListener): Promise<string> {
	return `http://127.0.0.1:${await listen(t, createServer(listener))}/mcp`;
}

interface Received {
	readonly id?: number;
	readonly method: string;
	// biome-ignore lint/suspicious/noExplicitAny: parameters of any request
	readonly params?: any;
}

/**
 * An MCP server over HTTP whose answers are plain JSON, closed with its test. Returns its URL.
 *
 * @param answer returns the result; undefined if it has answered itself
 */
export function serveResults(
	t: TestContext,
	answer: (message: Received, response: ServerResponse) => object | undefined,
): Promise<string> {
	return serveHttp(t, async (request, response) => {
		// The client may be killed.
		const body = await readText(request).catch(() => undefined);
		if (body === undefined || request.method !== "POST") {
			response.writeHead(405).end();
			return;
		}
		const message = JSON.parse(body) as Received;
		const result = answer(message, response);
		if (message.id === undefined && !response.headersSent) {
			response.writeHead(202).end();
		} else if (result !== undefined) {
			response.writeHead(200, { "Content-Type": "application/json" });
			response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
		}
	});
}

/** What an MCP server of these tests answers to `initialize`. */
export const initialized = (protocolVersion: string, name = "test") => ({
	protocolVersion,
	capabilities: { tools: {} },
	serverInfo: { name, version: "1" },
});

/** server-everything over HTTP or SSE, in a process of its own, killed with its test. */
export async function startEverything(t: TestContext, transport: "sse" | "streamableHttp", port?: number) {
	const chosen = port ?? (await freePort());
	const child: ChildProcess = spawn(process.execPath, [EVERYTHING, transport], {
		env: { ...process.env, PORT: String(chosen) },
		stdio: ["ignore", "ignore", "pipe"],
	});
	t.after(() => child.kill("SIGKILL"));
	let output = "";
	child.stderr?.on("data", (chunk) => {
		output += chunk;
	});
	await until(() => /listening|running on port/i.test(output), "server-everything listens");
	return { child, port: chosen };
}

/** Whether a process of this group runs: one that has ended, and waits for its parent to ask how, does not. */
export async function isGroupRunning(group: number): Promise<boolean> {
	for (const name of await readdir("/proc")) {
		const status = /^[0-9]+$/.test(name) ? await readFile(`/proc/${name}/stat`, "utf8").catch(() => "") : "";
		// After the name of the program, in parentheses: state, parent, group.
		const [state, , processGroup] = status.slice(status.lastIndexOf(")") + 2).split(" ");
		if (Number(processGroup) === group && state !== "Z") {
			return true;
		}
	}
	return false;
}

/** The processes that a process has started, and whose command line has a text. */
export async function processesOf(text: string, parent = process.pid): Promise<number[]> {
	const children = (await readFile(`/proc/${parent}/task/${parent}/children`, "utf8")).trim().split(" ");
	const lines = await Promise.all(children.map((child) => readFile(`/proc/${child}/cmdline`, "utf8").catch(() => "")));
	return children.filter((_, at) => lines[at]?.includes(text)).map(Number);
}

export function textOf(result: object): string {
	const [first] = (result as CallToolResult).content;
	return first?.type === "text" ? first.text : "";
}

export async function connected(t: TestContext, input: ServerInput) {
	const opened = await openServers(t);
	const configured = opened.add(input);
	return { server: await configured.connect(), configured, ...opened };
}

export async function callText(server: Server, name: string, args: object): Promise<string> {
	const tool = server.tools.find((each) => each.name === name);
	assert.ok(tool, `${name} is listed`);
	return textOf(await server.call(tool, args, { principal: "test" }));
}
