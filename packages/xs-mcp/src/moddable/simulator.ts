import type { Command } from "commander";
import { makeProgram, ProgramError } from "../build/program.js";
import { mcconfig } from "./mcconfig.js";
import { needSdk } from "./sdk.js";
import { addSettings } from "./settings.js";

const EPILOGUE = `
Runs mcconfig -d -m -p lin with these settings: it opens xsbug, the debugger, which has the log. $MODDABLE names the folder of
Moddable's SDK.`;

/**
 * `xs-mcp simulator`.
 *
 * @param folder of the manifest
 */
export function simulatorProgram(folder: string, env: NodeJS.ProcessEnv = process.env): Command {
	const program = makeProgram("xs-mcp simulator", "Runs the firmware in Moddable's simulator.").addHelpText(
		"after",
		EPILOGUE,
	);
	return addSettings(program, folder, "backend=mqtt://127.0.0.1:1883 token=SECRET …").action(
		async (settings: readonly string[]) => {
			const sdk = needSdk(env);
			if (sdk.host === "lin" && !env.DISPLAY && !env.WAYLAND_DISPLAY) {
				throw new ProgramError("there is no display for the simulator's window: set DISPLAY, or use a virtual device");
			}
			await mcconfig(sdk, folder, ["-d", "-p", sdk.host, ...settings], { show: true });
		},
	);
}
