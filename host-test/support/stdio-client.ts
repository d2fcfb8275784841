import type { TestContext } from "node:test";
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { PATIENT } from "./testing.js";

/** Connects the official client to a server that Node runs. `log` has the server's standard error. */
export async function connectOverStdio(
	t: Pick<TestContext, "after">,
	args: readonly string[],
	environment: Readonly<Record<string, string>>,
	options: ClientOptions,
) {
	const env = { ...(process.env as Record<string, string>), ...environment };
	const transport = new StdioClientTransport({ command: process.execPath, args: [...args], env, stderr: "pipe" });
	let log = "";
	transport.stderr?.on("data", (chunk) => {
		log += chunk;
	});
	const client = new Client({ name: "test-client", version: "1.0.0" }, options);
	t.after(() => client.close());
	await client.connect(transport, PATIENT);
	return { client, log: () => log };
}
