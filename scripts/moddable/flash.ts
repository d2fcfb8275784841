import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { makeProgram, ProgramError } from "../../toolchain/program.js";
import { ROOT } from "../../toolchain/root.js";
import { checkParts } from "./check-parts.js";
import { linkForChip, mcconfig, nameOf, outputOf } from "./mcconfig.js";
import { checkPort, choosePort, eraseFlash } from "./ports.js";
import { needSdk, type Sdk, SdkError, sdkEnvironment } from "./sdk.js";
import { addSettings } from "./settings.js";
import { findTarget, type Target } from "./targets.js";

const EPILOGUE = `
Runs mcconfig -m -p TARGET with these settings; the log that follows ends with Ctrl-]. $MODDABLE names the folder of
Moddable's SDK, $IDF_PATH the folder of ESP-IDF, and $UPLOAD_PORT the serial port, as --port does. npm run doctor says what
is missing, and how to get it.`;

interface FlashOptions {
	readonly target?: string;
	readonly port?: string;
	readonly log?: boolean;
	readonly debug?: boolean;
	readonly erase?: boolean;
	readonly buildOnly?: boolean;
	readonly linkOnly?: boolean;
}

/** Plan of a command line. */
export interface FlashPlan {
	/** `link` stops before ESP-IDF is needed. */
	readonly kind: "link" | "build" | "flash";
	readonly sdk: Sdk;
	readonly target: Target;
	/** Flags of mcconfig for the kind of build. */
	readonly flags: readonly string[];
	/** Settings of the firmware: "ssid=…". */
	readonly settings: readonly string[];
	/** Undefined if it is to be found. */
	readonly port: string | undefined;
	/** Whether the flash is erased first. */
	readonly erases: boolean;
}

/**
 * `npm run flash`: calls `run` with its options.
 *
 * @param folder of the manifest
 */
export function flashProgram(
	run: (plan: FlashPlan) => Promise<void>,
	env: NodeJS.ProcessEnv = process.env,
	folder: string = ROOT,
): Command {
	const program = makeProgram("run flash", "Builds the firmware for a chip with mcconfig, and puts it there.")
		.option("--target <target>", "mcconfig's name of the board: esp32, esp32/esp32s3, esp32/m5stack_cores3, …")
		.option("--port <port>", "serial port of the board (default: the only one found)")
		.addOption(new Option("--log", "release build with a plain-text log (mcconfig -i)").conflicts("debug"))
		.option("--debug", "debug build; opens xsbug (mcconfig -d)")
		.addOption(
			new Option("--erase", "erase the flash first, with every stored setting").conflicts(["buildOnly", "linkOnly"]),
		)
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

/** @throws SdkError that names what is missing or unknown */
function planFlash(settings: readonly string[], options: FlashOptions, env: NodeJS.ProcessEnv): FlashPlan {
	const { target: name, debug, log, erase = false, buildOnly, linkOnly, port = env.UPLOAD_PORT } = options;
	if (name === undefined) {
		throw new ProgramError("--target is missing: mcconfig's name of the board, such as esp32/m5stack_cores3");
	}
	const sdk = needSdk(env);
	const target = findTarget(sdk, name);
	const kind = linkOnly ? "link" : buildOnly ? "build" : "flash";
	if (kind !== "link") {
		needIdf(env);
	}
	return { kind, sdk, target, flags: debug ? ["-d"] : log ? ["-i"] : [], settings, port, erases: erase };
}

/** @throws SdkError if there is no ESP-IDF */
export function needIdf(env: NodeJS.ProcessEnv): void {
	if (!env.IDF_PATH || !existsSync(env.IDF_PATH)) {
		const found = env.IDF_PATH ? `is ${env.IDF_PATH}, which does not exist` : "is not set";
		throw new SdkError(`IDF_PATH ${found}: it names the folder of ESP-IDF`);
	}
}

/**
 * Builds and flashes as the options say.
 *
 * @param folder of the manifest
 * @throws PortError, SdkError with the problem and its fix
 */
export async function runPlan(plan: FlashPlan, folder: string = ROOT): Promise<void> {
	const { kind, sdk, target, flags, settings } = plan;
	await checkParts(folder, target.name);
	if (target.hasEthernet) {
		console.log(`${target.name}: its Ethernet is not used. The firmware connects by Wi-Fi.`);
	}
	if (kind === "link") {
		await linkForChip(sdk, folder, target.name, settings);
		console.log(`The firmware links for ${target.name}.`);
		return;
	}
	const args = [...flags, "-p", target.name, ...(kind === "build" ? ["-t", "build"] : []), ...settings];
	const env = sdkEnvironment(sdk);
	if (kind === "flash") {
		env.UPLOAD_PORT = choosePort(plan.port);
		checkPort(env.UPLOAD_PORT);
		if (plan.erases) {
			eraseFlash(env.UPLOAD_PORT, env);
		}
	}
	if (!target.isNamed) {
		console.log(`${target.name} is built as a bare ${target.chip}: docs/add-a-board.md adds its parts.`);
		addIdfSettings(folder, target, flags);
	}
	await mcconfig(sdk, folder, args, { show: true, env });
}

/**
 * Adds the firmware's settings of ESP-IDF to a build for a target without a board of its own, which has the SDK's. ESP-IDF
 * reads this file after those that mcconfig writes beside it, because its name ends with the chip's.
 */
function addIdfSettings(folder: string, { name, chip }: Target, flags: readonly string[]): void {
	const kind = flags.includes("-d") ? "debug" : flags.includes("-i") ? "instrument" : "release";
	const project = join(outputOf(folder), "tmp", ...name.split("/"), kind, nameOf(folder), `xsProj-${chip}`);
	const own = join(ROOT, "src/boards/esp32/sdkconfig");
	const texts = readdirSync(own)
		.filter((file) => kind !== "debug" || !file.endsWith(".release"))
		.map((file) => readFileSync(join(own, file), "utf8"));
	mkdirSync(project, { recursive: true });
	writeFileSync(join(project, `sdkconfig.mc.${chip}`), texts.join(""));
}
