import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, delimiter, join, relative, sep } from "node:path";
import { ROOT } from "../../toolchain/root.js";
import { checkParts } from "./check-parts.js";
import { ChildGroup } from "./child-group.js";
import { compileFiles, prepareFolder, shortenScripts } from "./compile.js";
import { listComponents } from "./idf-components.js";
import { addIdfSettings } from "./idf-settings.js";
import { makeProjectManifest } from "./project-manifest.js";
import { type Sdk, SdkError, sdkEnvironment, TSC } from "./sdk.js";
import { takeGlyphs } from "./settings.js";

/** mcconfig's default manifest. */
const MANIFEST = "manifest.json";

/** Lines of a failed build that are shown: the error is among the last of them. */
const LINES_SHOWN = 20;

interface McconfigOptions {
	/** Whether its output goes to the terminal. Otherwise it is part of the error. */
	readonly show: boolean;
	/** Default: the SDK's. */
	readonly env?: NodeJS.ProcessEnv;
	/** The build folder. Default: the manifest's. */
	readonly output?: string;
	/** A file in the folder. Default: manifest.json. */
	readonly manifest?: string;
}

/**
 * Runs mcconfig in a manifest's folder: lets it write the makefile, compiles the TypeScript, and lets it make the rest.
 *
 * @param args as on its command line, but for `-m`; where it builds is known
 * @throws SdkError when it fails
 */
export async function mcconfig(
	sdk: Sdk,
	folder: string,
	args: readonly string[],
	{ show, env = sdkEnvironment(sdk), output = outputOf(folder), manifest = MANIFEST }: McconfigOptions,
): Promise<void> {
	if (/\s/.test(output)) {
		throw new SdkError(`${output}: the SDK's makefiles cannot build in a path with spaces: move the project`);
	}
	const target = args[args.indexOf("-p") + 1] ?? "";
	const device = await checkParts(folder, target);
	const { files = {}, notes = [] } = device === undefined ? {} : makeProjectManifest(folder, target, device);
	prepareFolder(output, [folder, ...args, ...Object.values(files)]);
	const path = device === undefined ? join(folder, manifest) : writeProject(join(output, "project"), files);
	for (const note of notes) {
		console.error(`note: ${note}`);
	}
	addIdfSettings(sdk, output, nameOf(folder), args);
	await makeWith(sdk, "mcconfig", ["-o", output, ...args, path], { output, show, options: { cwd: folder, env } });
}

/** @returns the path of its manifest */
function writeProject(folder: string, files: Readonly<Record<string, string>>): string {
	mkdirSync(folder, { recursive: true });
	for (const [name, text] of Object.entries(files)) {
		const path = join(folder, name);
		// Make compares the times of files.
		if (!existsSync(path) || readFileSync(path, "utf8") !== text) {
			writeFileSync(path, text);
		}
	}
	return join(folder, MANIFEST);
}

/**
 * Builds a mod.
 *
 * @param folder of the mod, where its manifest is
 * @param args as on mcrun's command line, but for `-m`: where it builds is known
 * @param show whether mcrun's output goes to the terminal
 * @returns the folder that has the archive
 * @throws SdkError when that fails
 */
export async function mcrun(sdk: Sdk, folder: string, args: readonly string[], show: boolean): Promise<string> {
	if (!existsSync(join(folder, MANIFEST)) || relative(ROOT, folder).split(sep).length !== 2) {
		throw new SdkError(
			`${folder}: expected a folder with a manifest.json, as deep in the project as examples/mod-lamp`,
		);
	}
	const output = outputOf(folder);
	prepareFolder(output, [folder, ...args]);
	const options = { cwd: folder, env: sdkEnvironment(sdk) };
	await makeWith(sdk, "mcrun", ["-o", output, ...args], { output, show, options });
	return output;
}

interface RunOptions {
	readonly show: boolean;
	readonly options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv };
}

async function makeWith(
	sdk: Sdk,
	tool: "mcconfig" | "mcrun",
	args: readonly string[],
	{ output, ...run }: RunOptions & { readonly output: string },
): Promise<void> {
	const isDebug = args.includes("-d");
	await runTool(sdk, tool, args, run);
	try {
		compileFiles(output, !isDebug);
	} catch (error) {
		throw new SdkError(`TypeScript failed to compile:\n${(error as Error).message}`);
	}
	listComponents(output);
	const { cwd, env } = run.options;
	const path = isDebug ? env.PATH : [shortenScripts(output), env.PATH].join(delimiter);
	const options = { cwd, env: { ...env, PATH: path, BASH_ENV: stopAtIdfFailure(output) } };
	await runTool(sdk, tool, [...args, "-m"], { show: run.show, options });
}

/**
 * The SDK's makefile runs ESP-IDF's build in bash and ignores its failure: it goes on with the image of an earlier build, but
 * stops where it reads a program that is not there.
 *
 * @returns the file that bash reads first
 */
function stopAtIdfFailure(output: string): string {
	const file = join(output, "idf.bash");
	writeFileSync(file, 'idf.py() { command idf.py "$@" || { rm -f build/xs_esp32.elf; return 1; }; }\n');
	return file;
}

async function runTool(
	sdk: Sdk,
	tool: "mcconfig" | "mcrun",
	args: readonly string[],
	{ show, options }: RunOptions,
): Promise<void> {
	const { env, rest } = takeGlyphs(args, options.env);
	const command = [join(sdk.bin, tool), rest] as const;
	// It has the terminal if its output is shown: the SDK's debugger may ask for Ctrl-C.
	const child = show
		? spawn(...command, { ...options, env, stdio: "inherit" })
		: new ChildGroup(...command, ["pipe", "pipe"], { ...options, env }).process;
	const said: Buffer[] = [];
	child.stdout?.on("data", (bytes) => said.push(bytes));
	child.stderr?.on("data", (bytes) => said.push(bytes));
	const status = await new Promise<number | null>((resolve, reject) => {
		child.on("error", (error) => reject(new SdkError(`could not run ${tool}: ${error.message}`)));
		child.on("close", resolve);
	});
	if (status !== 0) {
		throw new SdkError([`${tool} failed (${status ?? "killed"})`, ...lastOf(String(Buffer.concat(said)))].join("\n"));
	}
}

/**
 * Checks the types of the whole firmware, or of a project that includes it. A build checks nothing: see `compileFiles`.
 *
 * @param folder the manifest's
 * @throws SdkError with the compiler's messages
 */
export function checkTypes(folder: string = ROOT): void {
	const what = isOutside(folder) ? ["--noEmit", "--project", folder] : ["--build", join(ROOT, "tsconfig.xs.json")];
	const { status, stdout } = spawnSync(process.execPath, [TSC, ...what]);
	if (status !== 0) {
		throw new SdkError(`Type check failed:\n${String(stdout).trim()}`);
	}
}

/**
 * Builds a manifest for a chip up to the linker's output, without a compiler for the chip.
 *
 * @param target as mcconfig calls it: "esp32/esp32s3"
 * @param args the rest of mcconfig's command line
 * @param manifest a file in the folder, with the NAME of its manifest.json
 * @returns the linker's output: C, in the folder of the build
 * @throws SdkError when the build fails
 */
export async function linkForChip(
	sdk: Sdk,
	folder: string,
	target: string,
	args: readonly string[],
	manifest = MANIFEST,
): Promise<string> {
	const linked = join(linkFolder(folder, target, manifest), "mc.xs.c");
	// A file of an earlier build would be mistaken for this one's.
	rmSync(linked, { force: true });
	await mcconfig(sdk, folder, [...args, "-t", linked], {
		show: false,
		env: standInForIdf(sdkEnvironment(sdk)),
		output: linkOutput(folder, target, manifest),
		manifest,
	});
	return linked;
}

/**
 * Makes mcconfig merge a manifest and its includes for a chip, without a build: less than a second.
 *
 * @param settings of the firmware: "ssid=…"
 * @returns a folder with what it made: manifest_flat.json, and in the folder of ESP-IDF's project (xsProj-CHIP)
 *   sdkconfig.mc, what overrides it in sdkconfig.mc.CHIP, and partitions.csv
 * @throws SdkError when that fails
 */
export async function configureForChip(
	sdk: Sdk,
	folder: string,
	target: string,
	settings: readonly string[],
): Promise<string> {
	const options = { cwd: folder, env: standInForIdf(sdkEnvironment(sdk)) };
	const output = linkOutput(folder, target);
	mkdirSync(output, { recursive: true });
	addIdfSettings(sdk, output, nameOf(folder), ["-p", target]);
	await runTool(sdk, "mcconfig", ["-o", output, "-p", target, ...settings], { show: false, options });
	return linkFolder(folder, target);
}

/**
 * Makes mcconfig write what a build needs, in an empty folder and without building it.
 *
 * @param target as mcconfig calls it
 * @returns the folder
 * @throws SdkError when that fails
 */
export async function configureBuild(sdk: Sdk, folder: string, target: string): Promise<string> {
	const output = join(`${outputOf(folder)}-configured`, target.replaceAll(/\W+/g, "-"));
	rmSync(output, { recursive: true, force: true });
	mkdirSync(output, { recursive: true });
	const options = { cwd: folder, env: standInForIdf(sdkEnvironment(sdk)) };
	await runTool(sdk, "mcconfig", ["-o", output, "-p", target], { show: false, options });
	return output;
}

function linkFolder(folder: string, target: string, manifest?: string): string {
	return join(linkOutput(folder, target, manifest), "tmp", ...target.split("/"), "release", nameOf(folder));
}

/**
 * One per target, separate from complete builds, which would use the stand-in's ESP-IDF settings.
 */
function linkOutput(folder: string, target: string, manifest = MANIFEST): string {
	const kind = manifest === MANIFEST ? "" : `-${basename(manifest, ".json")}`;
	return join(`${outputOf(folder)}-linked`, `${target.replaceAll("/", "-")}${kind}`);
}

/** Stand-ins that do nothing: mcconfig always requires an ESP-IDF repository and program. */
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
	await mcconfig(sdk, folder, ["-d", "-p", sdk.host, "-t", "build", ...settings], { show: false });
	const library = join(outputOf(folder), "bin", sdk.host, "mc", "debug", nameOf(folder), "mc.so");
	if (!existsSync(library)) {
		throw new SdkError(`mcconfig did not build ${library}: an included manifest sets another NAME`);
	}
	return library;
}

/**
 * Builds a mod for the simulator.
 *
 * @param folder of the mod
 * @returns the archive that the simulator loads beside the firmware
 * @throws SdkError when the build fails
 */
export async function buildModForSimulator(sdk: Sdk, folder: string): Promise<string> {
	const output = await mcrun(sdk, folder, ["-d", "-p", sdk.host, "-t", "build"], false);
	return join(output, "bin", sdk.host, "mc", "debug", nameOf(folder), "mc.xsa");
}

/** The program's name in a manifest. */
export function nameOf(folder: string): string {
	const manifest = JSON.parse(readFileSync(join(folder, MANIFEST), "utf8")) as { build: { NAME: string } };
	return manifest.build.NAME;
}

/** Each manifest has a folder of its own to be built in, so that builds may run at the same time; none is in the SDK. */
export function outputOf(folder: string): string {
	return isOutside(folder)
		? join(folder, "build", "moddable")
		: join(ROOT, ".cache", "moddable", relative(ROOT, folder) || "firmware");
}

/** Whether it is the folder of a project that includes the firmware. */
function isOutside(folder: string): boolean {
	return relative(ROOT, folder).startsWith("..");
}

/** A linker's warnings alone are hundreds of lines. */
function lastOf(said: string): string[] {
	const lines = said.split("\n").filter((line) => line !== "" && !line.startsWith("### warning"));
	return lines.slice(-LINES_SHOWN);
}
