import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { ROOT } from "../../packages/root.js";
import { typeScript } from "../program.js";

export function start(commands: string, ...args: string[]): SpawnSyncReturns<string> {
	return spawnSync(process.execPath, typeScript("examples/tour/main.ts", ...args), {
		cwd: ROOT,
		input: commands,
		encoding: "utf8",
	});
}
