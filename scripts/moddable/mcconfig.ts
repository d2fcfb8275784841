import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ChildGroup } from "./child-group.js";
import { type Sdk, SdkError, sdkEnvironment } from "./sdk.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Lines of a failed build that are shown: the error is among the last of them. */
const LINES_SHOWN = 20;

/**
 * Runs mcconfig in a manifest's folder.
 *
 * @param args as on its command line; where it builds is known
 * @param show whether what it says goes to the terminal. Otherwise it is part of the error.
 * @throws SdkError when it fails
 */
export async function mcconfig(sdk: Sdk, folder: string, args: readonly string[], show: boolean): Promise<void> {
	const output = outputOf(folder);
	mkdirSync(output, { recursive: true });
	const command = [join(sdk.bin, "mcconfig"), ["-o", output, ...args]] as const;
	const options = { cwd: folder, env: sdkEnvironment(sdk) };
	// Where the person looks on, it has the terminal: the SDK's debugger may ask for Ctrl-C.
	const child = show
		? spawn(...command, { ...options, stdio: "inherit" })
		: new ChildGroup(...command, ["pipe", "pipe"], options).process;
	const said: Buffer[] = [];
	child.stdout?.on("data", (bytes) => said.push(bytes));
	child.stderr?.on("data", (bytes) => said.push(bytes));
	const status = await new Promise<number | null>((resolve, reject) => {
		child.on("error", (error) => reject(new SdkError(`mcconfig cannot be run: ${error.message}`)));
		child.on("close", resolve);
	});
	if (status !== 0) {
		throw new SdkError([`mcconfig failed (${status ?? "killed"})`, ...lastOf(String(Buffer.concat(said)))].join("\n"));
	}
}

/**
 * Builds a manifest for the simulator, for debugging.
 *
 * @param folder the manifest's
 * @param settings of the firmware: "backend=ws://…"
 * @returns the library that the simulator loads
 * @throws SdkError when the build fails
 */
export async function buildForSimulator(sdk: Sdk, folder: string, settings: readonly string[] = []): Promise<string> {
	// Without a target mcconfig would start a simulator of its own, and end every other one.
	await mcconfig(sdk, folder, ["-d", "-m", "-p", sdk.host, "-t", "build", ...settings], false);
	const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as { build: { NAME: string } };
	const library = join(outputOf(folder), "bin", sdk.host, "mc", "debug", manifest.build.NAME, "mc.so");
	if (!existsSync(library)) {
		throw new SdkError(`mcconfig built something else than ${library}: an included manifest has another NAME`);
	}
	return library;
}

/** Each manifest has a folder of its own to be built in, so that builds may run at the same time; none is in the SDK. */
function outputOf(folder: string): string {
	return join(ROOT, ".cache", "moddable", relative(ROOT, folder) || "firmware");
}

/** A linker's warnings alone are hundreds of lines. */
function lastOf(said: string): string[] {
	const lines = said.split("\n").filter((line) => line !== "" && !line.startsWith("### warning"));
	return lines.slice(-LINES_SHOWN);
}
