import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The computer's properties that are checked. */
export interface Computer {
	readonly env: NodeJS.ProcessEnv;
	readonly platform: NodeJS.Platform;
	/** "20.20.2" */
	readonly nodeVersion: string;
	/** The folder of devices. */
	readonly dev: string;
	/** The folder of C headers. */
	readonly include: string;
}

/** The computer that this program runs on. */
export function thisComputer(): Computer {
	const { env, platform, versions } = process;
	return { env, platform, nodeVersion: versions.node, dev: "/dev", include: "/usr/include" };
}

/** The path of a program, as a shell would find it. */
export function findProgram(name: string, env: NodeJS.ProcessEnv): string | undefined {
	const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
	return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** Reads the version that a program of npm prints: "7.0.2". */
export function readVersion(program: string): string | undefined {
	const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
	return /\d+\.\d+\.\d+/.exec(stdout ?? "")?.[0];
}

/** Whether a path is a program that this user can start. */
export function isExecutable(path: string): boolean {
	return existsSync(path) && statSync(path).isFile() && isAllowed(path, constants.X_OK);
}

/** @param mode as `fs.access` takes it */
export function isAllowed(path: string, mode: number): boolean {
	try {
		accessSync(path, mode);
		return true;
	} catch {
		return false;
	}
}

/** The engine's major version: its minor one is a sum of options. */
export function readXsVersion(header: string): string | undefined {
	return existsSync(header) ? /#define XS_MAJOR_VERSION (\d+)/.exec(readFileSync(header, "utf8"))?.[1] : undefined;
}

/** The version of ESP-IDF that the SDK expects: "6.0". */
export function readExpectedIdf(moddable = ""): string {
	const manifest = join(moddable, "build", "devices", "esp32", "manifest.json");
	const text = moddable !== "" && existsSync(manifest) ? readFileSync(manifest, "utf8") : "";
	return /"EXPECTED_ESP_IDF":\s*"v([\d.]+)"/.exec(text)?.[1] ?? "6.0";
}

/** The version of ESP-IDF in a folder: "6.0.0". */
export function readIdfVersion(folder: string): string | undefined {
	const file = join(folder, "tools", "cmake", "version.cmake");
	if (!existsSync(file)) {
		return undefined;
	}
	const text = readFileSync(file, "utf8");
	const parts = ["MAJOR", "MINOR", "PATCH"].map((part) => new RegExp(`IDF_VERSION_${part} (\\d+)`).exec(text)?.[1]);
	return parts.includes(undefined) ? undefined : parts.join(".");
}
