import { createCipheriv } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Program } from "../e2e/program.js";
import { freePort } from "../support/port.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { startPython } from "./python.js";

/** The server makes another one if this is shorter than 32 characters. */
const KEY = "interop-interop-interop-interop-";

export interface McpEndpointServer {
	readonly program: Program;
	readonly toolUrl: string;
	readonly agentUrl: string;
}

export async function startMcpEndpointServer(test: TestContext, checkout: string): Promise<McpEndpointServer> {
	const folder = temporaryFolder();
	const port = await freePort();
	mkdirSync(join(folder, "data"));
	const config = `[server]\nhost = 127.0.0.1\nport = ${port}\nkey = ${KEY}\n[security]\nallowed_origins = *\n`;
	writeFileSync(join(folder, "data", ".mcp-endpoint-server.cfg"), config);
	const args = [join(checkout, "main.py")];
	const program = await startPython(test, args, (output) => output.includes("startup complete"), { cwd: folder });
	const cipher = createCipheriv("aes-256-ecb", KEY, null);
	const token = cipher.update('{"agentId":"interop"}', "utf8", "base64") + cipher.final("base64");
	const urlOf = (side: string): string =>
		`ws://127.0.0.1:${port}/mcp_endpoint/${side}/?token=${encodeURIComponent(token)}`;
	return { program, toolUrl: urlOf("mcp"), agentUrl: urlOf("call") };
}
