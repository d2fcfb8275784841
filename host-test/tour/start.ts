import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { typeScript } from "../e2e/program.js";

export function start(commands: string, ...args: string[]): SpawnSyncReturns<string> {
	return spawnSync(process.execPath, typeScript("examples/tour/main.ts", ...args), {
		cwd: fileURLToPath(new URL("../../", import.meta.url)),
		input: commands,
		encoding: "utf8",
	});
}
