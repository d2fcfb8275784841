import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { isNewer } from "xs-mcp-firmware/core/text/version";
import { bundle, profileOf, readOwnDevice } from "xs-mcp-virtual-device";
import { fromProject, readManifest } from "./build/manifests.js";
import { ProgramError, readJson } from "./build/program.js";
import { TSC } from "./moddable/sdk.js";
import { checkConfig } from "./moddable/settings.js";

/** A project of its own: a folder with a manifest that includes the firmware's. */
export interface Project {
	/** Absolute, without links. */
	readonly folder: string;
	/** Path of its manifest. */
	readonly manifest: string;
}

interface PackageJson {
	readonly dependencies?: Readonly<Record<string, string>>;
	readonly devDependencies?: Readonly<Record<string, string>>;
}

/**
 * Finds a project.
 *
 * @throws ProgramError if the folder has none, or its package.json asks for newer firmware than this
 */
export function openProject(given: string = process.cwd()): Project {
	const manifest = join(given, "manifest.json");
	if (!existsSync(manifest)) {
		throw new ProgramError(
			`${given} has no manifest.json: run this in a project's folder, as npm create xs-mcp makes one`,
		);
	}
	checkVersion(join(given, "package.json"));
	const folder = realpathSync(given);
	return { folder, manifest: join(folder, "manifest.json") };
}

/** The program of a virtual device, its name, settings and board, and warnings about its parts and settings. */
export type ProjectBuild = Awaited<ReturnType<typeof buildProject>>;

/** Bundles a project for a virtual device. Rejects with Error that names the file, and the line or part, which is wrong. */
export async function buildProject({ manifest }: Project) {
	const path = fromProject(manifest);
	const { build, config = {} } = readManifest(path);
	const unknown = checkConfig(config, path);
	const { profile = profileOf(), warnings = [] } = (await readOwnDevice(path)) ?? {};
	const firmware = await bundle(undefined, false, undefined, path);
	return { firmware, name: build?.NAME ?? "device", config, board: profile, warnings: [...unknown, ...warnings] };
}

/** @throws ProgramError if the project asks for newer firmware */
function checkVersion(file: string): void {
	if (!existsSync(file)) {
		return;
	}
	const { dependencies, devDependencies } = readJson<PackageJson>(file);
	const wanted = { ...devDependencies, ...dependencies }[FIRMWARE.name] ?? "";
	const [, version] = /^[\^~>=]*\s*(\d+\.\d+\.\d+)/.exec(wanted) ?? [];
	if (version !== undefined && isNewer(version, FIRMWARE.version)) {
		throw new ProgramError(
			`${FIRMWARE.name} ${FIRMWARE.version} is installed, but package.json asks for ${wanted}: run npm install`,
		);
	}
}

/**
 * Checks the types of a project, its parts, pins and tools, and whether it can be bundled.
 *
 * @returns problems with their files, one a line; empty without one
 */
export async function checkProject(project: Project): Promise<{
	readonly ok: boolean;
	readonly problems: string;
	readonly warnings: readonly string[];
}> {
	const [types, { errors, warnings }] = await Promise.all([
		findTypeErrors(project.folder),
		buildProject(project).then(
			({ warnings }) => ({ errors: "", warnings }),
			({ message }: Error) => ({ errors: message, warnings: [] }),
		),
	]);
	const problems = [types, errors].filter((text) => text !== "").join("\n");
	return { ok: problems === "", problems, warnings };
}

/** A message of the compiler: "device.ts(4,9): error TS2561: …". */
const MESSAGE = /^(.+?)\((\d+),(\d+)\): error (TS\d+): /gm;

/** A type that is too long to read in a message: it is shortened. */
const LONG_TYPE = /(\btype )'[^'\n]{60,}'/gi;

/** The message about a name that is missing, without a similar one. The compiler advises to add the types of another platform. */
const MISSING_NAME = /(Cannot find (?:name|module) '([^']+)')\.( Do you need to .*)?$/gm;

/** Functions of other platforms, and how a project does the same. */
const ON_CHIP: ReadonlyMap<string, string> = new Map([
	["console", "trace(…) writes to the device's log"],
	["fetch", 'a tool that needs "http" has http.request(…)'],
	["setInterval", "device.ts has every: [[seconds, …]]"],
	["setTimeout", "a tool has await call.sleep(milliseconds)"],
]);

/**
 * Checks the types of a project.
 *
 * @returns the errors, each as "device.ts:4:9: …"; empty without one, and without a tsconfig.json
 */
export async function findTypeErrors(folder: string): Promise<string> {
	if (!existsSync(join(folder, "tsconfig.json"))) {
		return "";
	}
	const args = [TSC, "--noEmit", "--pretty", "false", "--project", folder];
	return await new Promise((resolve) => {
		execFile(process.execPath, args, (error, stdout, stderr) => {
			resolve(error === null ? "" : simplifyMessages((stdout + stderr).trim()) || error.message);
		});
	});
}

function simplifyMessages(messages: string): string {
	return messages
		.replace(MESSAGE, "$1:$2:$3: ")
		.replace(LONG_TYPE, "$1'…'")
		.replace(MISSING_NAME, (message, start: string, name: string, advice: string | undefined) => {
			const hint = ON_CHIP.get(name) ?? (advice && "the chip has neither Node.js nor a browser");
			return hint === undefined ? message : `${start}: ${hint}`;
		});
}
