import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { ROOT } from "xs-mcp/root";
import { typeScript } from "../host-test/support/program.js";

export function start(commands: string, ...args: string[]): SpawnSyncReturns<string> {
	return spawnSync(process.execPath, typeScript("examples/tour/main.ts", ...args), {
		cwd: ROOT,
		input: commands,
		encoding: "utf8",
	});
}
