import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { ROOT } from "../../../root.js";
import { ProgramError } from "../build/program.js";

/** TypeScript's compiler: mcconfig writes configurations that version 5 refuses, and version 7 is ten times as fast as 6. */
export const TSC = join(findTypescript(), "bin", "tsc");

/** The version of ESP-IDF that the SDK expects. */
export const IDF_VERSION = "6.0";

/** The next step where something is missing: in a project, or in a clone of the repository. */
const DOCTOR = `${existsSync(join(ROOT, "tools/run.mjs")) ? "npm run xs-mcp doctor" : "npm run doctor"} has the commands that install it`;

/** The error, and the reason for a skipped test, without an SDK. */
export const NO_SDK = `MODDABLE is not set: it must name the folder of Moddable's SDK. A board also needs ESP-IDF ${IDF_VERSION}. ${DOCTOR}`;

/** The SDK's names for the computers it runs on, by Node's. */
export const HOSTS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { linux: "lin", darwin: "mac" };

/** Moddable's SDK with its tools built. */
export interface Sdk {
	readonly root: string;
	/** The folder of its tools. */
	readonly bin: string;
	/** mcconfig's name for this computer: "lin" or "mac". */
	readonly host: string;
}

/**
 * Finds the SDK that $MODDABLE names; undefined where it is not set.
 *
 * @throws ProgramError where it is set, and no SDK that can be used is there
 */
export function findSdk(env: NodeJS.ProcessEnv = process.env): Sdk | undefined {
	const root = env.MODDABLE;
	const host = HOSTS[process.platform];
	if (!root) {
		return undefined;
	}
	if (host === undefined) {
		throw new ProgramError(`this script does not support the SDK on ${process.platform}: run mcconfig yourself`);
	}
	const bin = join(root, "build", "bin", host, "release");
	if (!isExecutable(join(bin, "mcconfig"))) {
		throw new ProgramError(
			`MODDABLE is ${root}, but ${join(bin, "mcconfig")} does not exist: build the SDK's tools first`,
		);
	}
	return { root, bin, host };
}

/** As `findSdk`, but throws if it is not set. */
export function needSdk(env: NodeJS.ProcessEnv = process.env): Sdk {
	const sdk = findSdk(env);
	if (sdk === undefined) {
		throw new ProgramError(NO_SDK);
	}
	return sdk;
}

/** @throws ProgramError if there is no ESP-IDF */
export function needIdf({ IDF_PATH }: NodeJS.ProcessEnv): void {
	if (!IDF_PATH || !existsSync(IDF_PATH)) {
		const found = IDF_PATH ? `is ${IDF_PATH}, which does not exist` : "is not set";
		throw new ProgramError(`IDF_PATH ${found}: it must name the folder of ESP-IDF ${IDF_VERSION}. ${DOCTOR}`);
	}
}

/** Finds TypeScript's folder. In the repository, `typescript` is version 6, whose interface ts-node needs. */
function findTypescript(): string {
	const { resolve } = createRequire(import.meta.url);
	try {
		return dirname(resolve("typescript-7/package.json"));
	} catch {
		// A project of a maker has one version only.
		return dirname(resolve("typescript/package.json"));
	}
}

/** The environment in which the SDK's tools find each other, and the project's TypeScript. */
export function sdkEnvironment({ root, bin }: Sdk, env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
	return { ...env, MODDABLE: root, PATH: [bin, dirname(TSC), env.PATH].join(delimiter) };
}

/** Whether this user may use a file. @param mode as `fs.access` takes it */
export function isAllowed(path: string, mode: number): boolean {
	try {
		accessSync(path, mode);
		return true;
	} catch {
		return false;
	}
}

/** The path of a program, as a shell would find it. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
	const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
	return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** Whether a path is a program that this user can start. */
export function isExecutable(path: string): boolean {
	return isAllowed(path, constants.X_OK) && statSync(path).isFile();
}
