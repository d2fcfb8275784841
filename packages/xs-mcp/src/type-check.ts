import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { TSC } from "./moddable/sdk.js";

/** A message of the compiler: "device.ts(4,9): error TS2561: …". */
const MESSAGE = /^(.+?)\((\d+),(\d+)\): error (TS\d+): /gm;

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
			const text = (stdout + stderr).trim().replace(MESSAGE, "$1:$2:$3: ");
			resolve(error === null ? "" : text || error.message);
		});
	});
}
