import { fromProject } from "../../toolchain/manifests.js";
import { failAs, runProgram } from "../../toolchain/program.js";
import { readDevice } from "../../toolchain/read-device.js";
import { flashProgram, runPlan } from "../moddable/flash.js";
import type { Project } from "./project.js";

/** The target of a device that names no board. */
const BARE = "esp32";

/**
 * Builds a project for a board and puts it there, as `npm run flash` of the firmware does.
 *
 * @param args of the command line. Default of `--target`: the board of device.ts
 */
export async function flashProject({ folder, manifest }: Project, args: readonly string[]): Promise<void> {
	const program = flashProgram((plan) => runPlan(plan, folder), process.env, folder);
	const isTold = args.some((arg) => /^--(target|help)\b|^-h$/.test(arg));
	await runProgram(program, isTold ? args : ["--target", await targetOf(manifest), ...args]);
}

/** Rejects with ProgramError if device.ts is wrong. */
async function targetOf(manifest: string): Promise<string> {
	const device = await readDevice(fromProject(manifest), BARE).catch(failAs());
	return device?.board ?? BARE;
}
