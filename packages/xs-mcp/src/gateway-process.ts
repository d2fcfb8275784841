import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ProgramError, readJson } from "./build/program.js";

const PACKAGE = "xs-mcp-gateway";

/** Milliseconds between two looks at a gateway that starts. */
const POLL_INTERVAL = 100;

/** Addresses of a gateway on this computer. */
export interface LocalGateway {
	/** For a browser; clients use /mcp there. */
	readonly url: string;
	readonly deviceUrl: string;
	/** Whether it ran before. */
	readonly isOther: boolean;
}

/**
 * Finds the gateway that runs on this computer, or starts the one that is installed. Rejects with ProgramError if there is
 * none, or it ends while it starts.
 */
export async function openGateway(httpPort: number, devicePort: number): Promise<LocalGateway> {
	const url = `http://127.0.0.1:${httpPort}/`;
	const deviceUrl = `ws://127.0.0.1:${devicePort}/`;
	if (await answers(url)) {
		return { url, deviceUrl, isOther: true };
	}
	const args = [findProgram(), "--http-port", String(httpPort), "--websocket-port", String(devicePort)];
	const child = spawn(process.execPath, [...args, "--log-level", "warn"], { stdio: ["ignore", "inherit", "inherit"] });
	process.once("exit", () => child.kill());
	while (!(await answers(url))) {
		if (child.exitCode !== null || child.signalCode !== null) {
			throw new ProgramError("the gateway ended: its error is above. --no-gateway starts the device alone");
		}
		await delay(POLL_INTERVAL);
	}
	return { url, deviceUrl, isOther: false };
}

async function answers(url: string): Promise<boolean> {
	try {
		const { status, headers } = await fetch(`${url}healthz`);
		return status === 200 && headers.get("content-type")?.includes("json") === true;
	} catch {
		return false;
	}
}

/** @throws ProgramError if it is not installed */
function findProgram(): string {
	const folders = createRequire(import.meta.url).resolve.paths(PACKAGE) ?? [];
	const installed = folders.map((folder) => join(folder, PACKAGE)).find((path) => existsSync(path));
	if (installed === undefined) {
		throw new ProgramError(
			`no gateway runs, and none is installed: npm install ${PACKAGE}, or start with --no-gateway`,
		);
	}
	const { bin } = readJson<{ bin: Record<string, string> }>(join(installed, "package.json"));
	return join(installed, String(bin[PACKAGE]));
}
