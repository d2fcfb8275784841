import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { makeProgram } from "../program.js";
import { needSdk, type Sdk, SdkError } from "./sdk.js";
import { addSettings } from "./settings.js";
import { findTarget, type Target } from "./targets.js";

const EPILOGUE = `
$MODDABLE names the folder of Moddable's SDK, $IDF_PATH the folder of ESP-IDF, and $UPLOAD_PORT the serial port where several
boards are connected.`;

interface FlashOptions {
	readonly target: string;
	readonly debug?: boolean;
	readonly buildOnly?: boolean;
	readonly linkOnly?: boolean;
}

/** What flashing asks of mcconfig. */
export interface FlashPlan {
	readonly sdk: Sdk;
	readonly target: Target;
	/** As on mcconfig's command line. */
	readonly args: readonly string[];
	/** Of the firmware: "ssid=…". They are in `args`, too. */
	readonly settings: readonly string[];
	/** Stops before ESP-IDF is needed. */
	readonly linkOnly: boolean;
}

/** `npm run flash`, which hands what it has understood to `run`. */
export function flashProgram(run: (plan: FlashPlan) => Promise<void>, env: NodeJS.ProcessEnv = process.env): Command {
	const program = makeProgram("run flash", "Builds the firmware for a chip, and puts it there.")
		.requiredOption("--target <target>", "mcconfig's name of the board: esp32, esp32/esp32s3, esp32/m5stack_cores3, …")
		.option("--debug", "build for the debugger: xsbug starts, and shows the trace")
		.option("--build-only", "do not touch a chip")
		.addOption(
			new Option("--link-only", "compile and link the TypeScript only, which needs no ESP-IDF").conflicts([
				"buildOnly",
				"debug",
			]),
		)
		.addHelpText("after", EPILOGUE);
	return addSettings(program, "ssid=NAME password=SECRET backend=wss://HOST/PATH …").action(
		(settings: string[], options: FlashOptions) => run(planFlash(settings, options, env)),
	);
}

/** @throws SdkError that names what is missing or unknown */
function planFlash(settings: readonly string[], options: FlashOptions, env: NodeJS.ProcessEnv): FlashPlan {
	const { debug = false, buildOnly = false, linkOnly = false } = options;
	const sdk = needSdk(env);
	const target = findTarget(sdk, options.target);
	if (!linkOnly && (!env.IDF_PATH || !existsSync(env.IDF_PATH))) {
		const found = env.IDF_PATH ? `is ${env.IDF_PATH}, which does not exist` : "is not set";
		throw new SdkError(`IDF_PATH ${found}: it names the folder of ESP-IDF`);
	}
	const flags = [...(debug ? ["-d"] : []), "-p", target.name];
	const build = buildOnly ? ["-t", "build"] : [];
	return { sdk, target, args: [...flags, ...build, ...settings], settings, linkOnly };
}
