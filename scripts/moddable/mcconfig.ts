import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ChildGroup } from "./child-group.js";
import { type Sdk, SdkError, sdkEnvironment } from "./sdk.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Lines of a failed build that are shown: the error is among the last of them. */
const LINES_SHOWN = 20;

interface McconfigOptions {
	/** Whether what it says goes to the terminal. Otherwise it is part of the error. */
	readonly show: boolean;
	/** Default: the SDK's. */
	readonly env?: NodeJS.ProcessEnv;
	/** Where it builds. Default: a folder of the manifest's own. */
	readonly output?: string;
}

/**
 * Runs mcconfig in a manifest's folder.
 *
 * @param args as on its command line; where it builds is known
 * @throws SdkError when it fails
 */
export async function mcconfig(
	sdk: Sdk,
	folder: string,
	args: readonly string[],
	{ show, env = sdkEnvironment(sdk), output = outputOf(folder) }: McconfigOptions,
): Promise<void> {
	mkdirSync(output, { recursive: true });
	const command = [join(sdk.bin, "mcconfig"), ["-o", output, ...args]] as const;
	const options = { cwd: folder, env };
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
 * Builds a manifest for a chip up to the linker's output, without a compiler for the chip.
 *
 * @param target as mcconfig calls it: "esp32/esp32s3"
 * @param args the rest of mcconfig's command line
 * @throws SdkError when the build fails
 */
export async function linkForChip(sdk: Sdk, folder: string, target: string, args: readonly string[]): Promise<void> {
	// Apart from complete builds, which would take the stand-in's settings of ESP-IDF for real ones.
	const output = `${outputOf(folder)}-linked`;
	const linked = join(output, "tmp", ...target.split("/"), "release", nameOf(folder), "mc.xs.c");
	// A file from an earlier build would be taken for this one's.
	rmSync(linked, { force: true });
	await mcconfig(sdk, folder, [...args, "-t", linked], {
		show: false,
		env: standInForIdf(sdkEnvironment(sdk)),
		output,
	});
}

/** mcconfig wants a repository and a program of ESP-IDF, whatever it is to make. These do nothing. */
function standInForIdf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
	const folder = join(ROOT, ".cache", "moddable", "no-idf");
	mkdirSync(folder, { recursive: true });
	const script = "#!/bin/sh\nmkdir -p build/config && touch build/config/sdkconfig.h\n";
	writeFileSync(join(folder, "idf.py"), script, { mode: 0o755 });
	const author = ["-c", "user.name=xs-mcp", "-c", "user.email=xs-mcp@localhost"];
	for (const args of [
		["init", "--quiet"],
		[...author, "commit", "--quiet", "--allow-empty", "--message", "none"],
	]) {
		spawnSync("git", args, { cwd: folder });
	}
	return { ...env, IDF_PATH: folder, PATH: [folder, env.PATH].join(delimiter) };
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
	await mcconfig(sdk, folder, ["-d", "-m", "-p", sdk.host, "-t", "build", ...settings], { show: false });
	const library = join(outputOf(folder), "bin", sdk.host, "mc", "debug", nameOf(folder), "mc.so");
	if (!existsSync(library)) {
		throw new SdkError(`mcconfig built something else than ${library}: an included manifest has another NAME`);
	}
	return library;
}

/** What a manifest calls its program. */
export function nameOf(folder: string): string {
	const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as { build: { NAME: string } };
	return manifest.build.NAME;
}

/** Each manifest has a folder of its own to be built in, so that builds may run at the same time; none is in the SDK. */
export function outputOf(folder: string): string {
	return join(ROOT, ".cache", "moddable", relative(ROOT, folder) || "firmware");
}

/** A linker's warnings alone are hundreds of lines. */
function lastOf(said: string): string[] {
	const lines = said.split("\n").filter((line) => line !== "" && !line.startsWith("### warning"));
	return lines.slice(-LINES_SHOWN);
}
