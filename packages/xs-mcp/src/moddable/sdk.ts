import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join } from "node:path";
import type { BoardData } from "xs-mcp-firmware/hardware/board-data";
import { PRESETS, withBase } from "../build/board-manifest.js";
import { BARE_CHIP, chipOf, suggestTarget } from "../build/check-board.js";
import { ProgramError } from "../build/program.js";
import { ROOT } from "../root.js";

/** TypeScript's compiler: mcconfig writes configurations that version 5 refuses, and version 7 is ten times as fast as 6. */
export const TSC = join(findTypescript(), "bin", "tsc");

/** The version of ESP-IDF that the SDK expects. */
export const IDF_VERSION = "6.0";

/** The next step where something is missing: in a project, or in a clone of the repository. */
const DOCTOR = `${existsSync(join(ROOT, "tools/run.mjs")) ? "npm run xs-mcp doctor" : "npm run doctor"} has the commands that install it`;

/** The error, and the reason for a skipped test, without an SDK. @internal */
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
 * @internal
 * @throws ProgramError if it is set, but there is no usable SDK
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

/** Returns the SDK that `findSdk` finds. @throws ProgramError if there is none */
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

/** Name of a maker's board in the identity of the firmware. */
const OWN_BOARD = "esp32/own";

/** The reason why a chip cannot run the firmware. All other chips of the SDK have Wi-Fi. */
const WITHOUT_WIFI: Readonly<Record<string, string>> = {
	esp32h2: "its radio knows Bluetooth LE, Thread and Zigbee only",
	esp32h4: "its radio knows Bluetooth LE, Thread and Zigbee only",
	esp32p4: "it has no radio",
};

interface Manifest {
	readonly build?: { readonly ESP32_SUBCLASS?: string };
	readonly defines?: { readonly ethernet?: object };
	readonly platforms?: Readonly<Record<string, object>>;
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8"));

const { platforms: PLATFORMS = {} } = readManifest(join(ROOT, "src/build/manifest_minimal.json"));

/** Targets that the manifest names: mcconfig alone builds them. */
export const NAMED = Object.keys(PLATFORMS).filter((name) => /^esp32(\/\w+)?$/.test(name));

/** A target: mcconfig's name ("esp32/m5stack_cores3"), ESP-IDF's of its chip, and its board. */
export type Target = ReturnType<typeof findTarget>;

/**
 * Finds a target by mcconfig's name, or that of a board as data.
 *
 * @throws ProgramError if neither the SDK nor a preset has it, or the chip has no Wi-Fi
 */
export function findTarget({ root }: Sdk, board: string | BoardData) {
	const name = typeof board === "string" ? board : OWN_BOARD;
	const data = typeof board === "string" ? PRESETS.get(board.split("/").at(-1) ?? "") : withBase(board);
	if (data !== undefined && !boardOf(name).isNamed) {
		return { name, chip: chipOf(data), board: basename(name), isNamed: true, hasEthernet: false, data };
	}
	const folder = join(root, "build", "devices", "esp32", "targets");
	const names = existsSync(folder) ? readdirSync(folder) : [];
	const known = [BARE_CHIP, ...names.map((each) => `${BARE_CHIP}/${each}`)];
	if (!known.includes(name)) {
		throw new ProgramError(`--target: unknown target ${name}. ${suggestTarget(name, [...names, ...PRESETS.keys()])}`);
	}
	const manifest = name === BARE_CHIP ? {} : readManifest(join(folder, basename(name), "manifest.json"));
	const chip = manifest.build?.ESP32_SUBCLASS ?? BARE_CHIP;
	const reason = WITHOUT_WIFI[chip];
	if (reason !== undefined) {
		throw new ProgramError(`--target: ${name} has the chip ${chip}, which has no Wi-Fi: ${reason}`);
	}
	return {
		name,
		chip,
		...boardOf(name),
		/** Whether the SDK's target has Ethernet, which no board of the firmware opens. */
		hasEthernet: manifest.defines?.ethernet !== undefined,
		/** Data of a generated target. Undefined for a target of the SDK. */
		data: undefined,
	};
}

/**
 * Finds the board in src/hardware/boards that is built for a target, whether or not the SDK knows it. A board without a name
 * in the manifest is built as a bare chip with the SDK's settings of ESP-IDF.
 *
 * @internal
 */
export function boardOf(name: string) {
	return { board: PRESETS.has(basename(name)) ? basename(name) : BARE_CHIP, isNamed: PLATFORMS[name] !== undefined };
}
