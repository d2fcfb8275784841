import { spawnSync } from "node:child_process";
import { ProgramError } from "../../toolchain/program.js";
import { TSC } from "../moddable/sdk.js";

/**
 * Checks the types of a project.
 *
 * @param folder with its tsconfig.json
 * @throws ProgramError with the compiler's messages
 */
export function checkTypes(folder: string): void {
	const { status, stdout } = spawnSync(process.execPath, [TSC, "--noEmit", "--project", folder]);
	if (status !== 0) {
		throw new ProgramError(`Type check failed:\n${String(stdout).trim()}`);
	}
}
