import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TSC } from "./sdk.js";

/** mcconfig's configuration of the compiler for one file. */
interface FileConfig {
	/** The configuration that all files of the build share. */
	readonly extends: string;
	readonly files: readonly string[];
}

/**
 * Checks the types of a build with the compiler settings and the SDK's typings that mcconfig gives it. One run finds all
 * errors in less than a second, where mcconfig's makefile runs the compiler once per file and stops at the first error.
 *
 * @param folder of the build, configured by mcconfig
 * @returns the compiler's messages; empty without an error
 */
export function findTypeErrors(folder: string): string {
	const configs = readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((path) => path.endsWith("-tsconfig.json"))
		.map((path) => JSON.parse(readFileSync(join(folder, path), "utf8")) as FileConfig);
	const [{ extends: base } = { extends: "" }] = configs;
	const config = join(folder, "tsconfig-check.json");
	writeFileSync(
		config,
		JSON.stringify({
			extends: base,
			compilerOptions: { noEmit: true },
			files: configs.flatMap(({ files }) => files),
		}),
	);
	const { status, stdout, error } = spawnSync(process.execPath, [TSC, "--project", config], { encoding: "utf8" });
	return status === 0 ? "" : (error?.message ?? stdout.trim());
}
