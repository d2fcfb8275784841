import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { typeScript } from "../host-test/support/program.js";
import { ROOT } from "../packages/root.js";

export function start(commands: string, ...args: string[]): SpawnSyncReturns<string> {
	return spawnSync(process.execPath, typeScript("examples/tour/main.ts", ...args), {
		cwd: ROOT,
		input: commands,
		encoding: "utf8",
	});
}
