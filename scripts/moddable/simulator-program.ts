import { resolve } from "node:path";
import type { Command } from "commander";
import { makeProgram } from "../../toolchain/program.js";
import { definesParts } from "./check-parts.js";
import { buildForSimulator, buildModForSimulator, checkTypes } from "./mcconfig.js";
import { needSdk } from "./sdk.js";
import { addSettings } from "./settings.js";
import { PARTS_PANEL, Simulator } from "./simulator.js";

const EPILOGUE = `
$MODDABLE names the folder of Moddable's SDK. Ctrl-C ends the simulator. Linux only.`;

const NO_DISPLAY = process.env.DISPLAY === undefined && process.env.WAYLAND_DISPLAY === undefined;

interface Options {
	readonly headless: boolean;
	readonly mod?: string;
}

/**
 * `npm run simulator`.
 *
 * @param folder of the manifest
 */
export function simulatorProgram(folder: string): Command {
	const program = makeProgram("run simulator", "Runs the firmware in Moddable's simulator, its trace in the terminal.")
		.option("--headless", "use a virtual display (the default without a display)", NO_DISPLAY)
		.option("--mod <folder>", "load this mod with the firmware: docs/mods.md")
		.addHelpText("after", EPILOGUE);
	return addSettings(program, folder, "backend=mqtt://127.0.0.1:1883 token=SECRET …").action(
		(settings: readonly string[], options: Options) => simulate(folder, settings, options),
	);
}

async function simulate(
	folder: string,
	settings: readonly string[],
	{ headless, mod: modFolder }: Options,
): Promise<void> {
	const sdk = needSdk();
	console.log("Building the firmware …");
	checkTypes(folder);
	const library = await buildForSimulator(sdk, folder, settings);
	const mod = modFolder && (await buildModForSimulator(sdk, resolve(modFolder)));
	const simulator = await Simulator.start(sdk, library, {
		headless,
		...(mod && { mod }),
		...(definesParts(folder) && { devices: PARTS_PANEL }),
	});
	for (const signal of ["SIGINT", "SIGTERM"] as const) {
		process.once(signal, () => void simulator.stop().then(() => process.exit(0)));
	}
	simulator.on("line", (line) => console.log(line));
	simulator.on("ended", (reason) => {
		console.error(`The simulator ended: ${reason}`);
		// Closing its window is not a failure. Without a window, only a failure ends it.
		process.exit(headless ? 1 : 0);
	});
}
