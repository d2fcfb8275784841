import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { ClientOptions } from "@modelcontextprotocol/client";
import { connectOverStdio } from "../../../host-test/support/stdio-client.js";
import { until } from "../../../host-test/support/testing.js";
import { ERAS } from "./gateway.js";
import type { StartedProgram } from "./program.js";

export const PROGRAM = fileURLToPath(new URL("../xs-mcp-gateway.mjs", import.meta.url));

export const FREE_PORTS = ["--http-port", "0", "--websocket-port", "0"];

interface Running {
	readonly child: ChildProcess;
	readonly output: { stdout: string; stderr: string };
	/** Settles with the exit code. */
	readonly exited: Promise<number | null>;
}

export function start(t: TestContext, args: readonly string[], environment: Record<string, string> = {}): Running {
	const child = spawn(process.execPath, [PROGRAM, ...args], { env: { ...process.env, ...environment } });
	t.after(() => child.kill("SIGKILL"));
	const output = { stdout: "", stderr: "" };
	child.stdout.on("data", (chunk) => {
		output.stdout += chunk;
	});
	child.stderr.on("data", (chunk) => {
		output.stderr += chunk;
	});
	return { child, output, exited: once(child, "close").then(([code]) => code) };
}

export async function startListening(...args: Parameters<typeof start>) {
	const running = start(...args);
	await until(() => running.output.stderr.includes('"listening"'), "it listens");
	return { ...running, ...addressesIn(running.output.stderr) };
}

export function addressesIn(log: string): { base: string; deviceUrl: string } {
	const [, base = ""] = /"clients":"([^"]+)\/mcp"/.exec(log) ?? [];
	const [, deviceUrl = ""] = /"websocket":"([^"]+)"/.exec(log) ?? [];
	return { base, deviceUrl };
}

export async function run(t: TestContext, args: readonly string[], environment: Record<string, string> = {}) {
	const { child, output, exited } = start(t, args, environment);
	child.stdin?.end();
	return { code: await exited, ...output };
}

export function ask({ base }: Pick<StartedProgram, "base">) {
	return (t: TestContext, ...args: string[]) => run(t, args, { XS_MCP_GATEWAY_URL: base });
}

export const startClient = (
	t: TestContext,
	args: readonly string[],
	environment: Record<string, string> = {},
	options: ClientOptions = ERAS["2025-11-25"],
) => connectOverStdio(t, [PROGRAM, ...args], environment, options);

export function startWire(t: TestContext, args: readonly string[], environment: Record<string, string>) {
	const { child, output } = start(t, args, environment);
	let id = 0;
	const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
		id += 1;
		const mark = `"id":${id}`;
		child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
		const line = (): string | undefined =>
			output.stdout.split("\n").find((each) => each.includes(mark) && isJson(each));
		await until(() => line() !== undefined, `${method} is answered`);
		return JSON.parse(line() as string).result;
	};
	return { ask };
}

function isJson(text: string): boolean {
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
}
