import { existsSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { makeProgram, ProgramError } from "../../toolchain/program.js";
import { ROOT } from "../../toolchain/root.js";
import { needSdk, type Sdk, SdkError } from "./sdk.js";
import { addSettings } from "./settings.js";
import { findTarget, type Target } from "./targets.js";

const EPILOGUE = `
$MODDABLE names the folder of Moddable's SDK, $IDF_PATH the folder of ESP-IDF, and $UPLOAD_PORT the serial port, as --port does.
npm run doctor says what is missing, and how to get it. Ctrl-C ends the log.`;

/** Bits per second at which ESP-IDF writes its log. */
export const LOG_SPEED = 115_200;

interface FlashOptions {
	readonly target?: string;
	readonly port?: string;
	readonly log?: boolean;
	readonly debug?: boolean;
	readonly baud: number;
	readonly monitor?: boolean;
	readonly buildOnly?: boolean;
	readonly linkOnly?: boolean;
}

/** A board's serial output: text, or the trace of a debug build, which the SDK decodes. */
export type BoardLog = { readonly kind: "text"; readonly baud: number } | { readonly kind: "trace"; readonly sdk: Sdk };

/** The build for mcconfig. */
export interface BuildPlan {
	readonly sdk: Sdk;
	readonly target: Target;
	/** Arguments for mcconfig, without the target. */
	readonly args: readonly string[];
	/** Of the firmware: "ssid=…". They are in `args`, too. */
	readonly settings: readonly string[];
}

/** Plan of a command line. An undefined port is to be found. */
export type FlashPlan =
	/** Stops before ESP-IDF is needed. */
	| ({ readonly kind: "link" } & BuildPlan)
	| ({ readonly kind: "build" } & BuildPlan)
	/** A release build has no log. */
	| ({ readonly kind: "flash"; readonly port: string | undefined; readonly log: BoardLog | undefined } & BuildPlan)
	| { readonly kind: "monitor"; readonly port: string | undefined; readonly log: BoardLog };

/**
 * `npm run flash`: calls `run` with its options.
 *
 * @param folder the manifest's
 */
export function flashProgram(
	run: (plan: FlashPlan) => Promise<void>,
	env: NodeJS.ProcessEnv = process.env,
	folder: string = ROOT,
): Command {
	const building = ["target", "buildOnly", "linkOnly"];
	const program = makeProgram("run flash", "Builds the firmware for a chip, puts it there, and shows the board's log.")
		.option("--target <target>", "mcconfig's name of the board: esp32, esp32/esp32s3, esp32/m5stack_cores3, …")
		.option("--port <port>", "serial port of the board (default: the only one found)")
		.addOption(new Option("--log", "build with a plain-text log, and show it").conflicts("debug"))
		.option("--debug", "build for debugging, and show the trace")
		.addOption(new Option("--baud <baud>", "baud rate of the plain-text log").argParser(readBaud).default(LOG_SPEED))
		.addOption(new Option("--monitor", "show the log only: text, or with --debug the trace").conflicts(building))
		.option("--build-only", "build without flashing")
		.addOption(
			new Option("--link-only", "compile and link the TypeScript only, which needs no ESP-IDF").conflicts([
				"buildOnly",
				"debug",
				"log",
			]),
		)
		.addHelpText("after", EPILOGUE);
	return addSettings(program, folder, "ssid=NAME password=SECRET backend=wss://HOST/PATH …").action(
		(settings: string[], options: FlashOptions) => run(planFlash(settings, options, env)),
	);
}

function readBaud(text: string): number {
	const baud = Number(text);
	if (!Number.isInteger(baud) || baud < 300 || baud > 4_000_000) {
		throw new InvalidArgumentError("Expected bits per second, from 300 to 4000000.");
	}
	return baud;
}

/** @throws SdkError that names what is missing or unknown */
function planFlash(settings: readonly string[], options: FlashOptions, env: NodeJS.ProcessEnv): FlashPlan {
	const { debug = false, log = false, buildOnly = false, linkOnly = false, baud } = options;
	const port = options.port ?? env.UPLOAD_PORT;
	if (options.monitor) {
		return { kind: "monitor", port, log: debug ? { kind: "trace", sdk: needSdk(env) } : { kind: "text", baud } };
	}
	if (options.target === undefined) {
		throw new ProgramError("--target is missing: mcconfig's name of the board, such as esp32/m5stack_cores3");
	}
	const sdk = needSdk(env);
	const target = findTarget(sdk, options.target);
	// An instrumented build is a release build that writes text to its console.
	const flags = debug ? ["-d"] : log ? ["-i"] : [];
	const build = { sdk, target, settings, args: [...flags, "-p", target.name, ...settings] };
	if (linkOnly) {
		return { kind: "link", ...build };
	}
	needIdf(env);
	if (buildOnly) {
		return { kind: "build", ...build };
	}
	const text = log ? ({ kind: "text", baud } as const) : undefined;
	return { kind: "flash", port, log: debug ? { kind: "trace", sdk } : text, ...build };
}

/** @throws SdkError if there is no ESP-IDF */
export function needIdf(env: NodeJS.ProcessEnv): void {
	if (!env.IDF_PATH || !existsSync(env.IDF_PATH)) {
		const found = env.IDF_PATH ? `is ${env.IDF_PATH}, which does not exist` : "is not set";
		throw new SdkError(`IDF_PATH ${found}: it names the folder of ESP-IDF`);
	}
}
