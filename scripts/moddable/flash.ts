import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parseCommandLine } from "./command-line.js";
import { needSdk, type Sdk, SdkError } from "./sdk.js";

const HELP = `Builds the firmware for a chip, and puts it there. Needs the SDK and ESP-IDF, named by $MODDABLE and $IDF_PATH.

  npm run flash -- --target TARGET [options] [NAME=VALUE …]

  --target TARGET  what mcconfig calls the board: esp32, esp32/esp32s3, esp32/m5stack_cores3, …
  NAME=VALUE       a setting of the firmware: ssid=NAME password=SECRET backend=wss://HOST/PATH …
  --debug          with the debugger: xsbug starts, and shows the trace
  --build-only     does not touch a chip
  --help

$UPLOAD_PORT names the serial port where several are connected.
`;

const OPTIONS = {
	target: { type: "string" },
	debug: { type: "boolean", default: false },
	"build-only": { type: "boolean", default: false },
	help: { type: "boolean", default: false },
} as const;

/** What flashing asks of mcconfig, or the text to show instead. */
export type FlashPlan =
	| { readonly help: string }
	| { readonly help?: undefined; readonly sdk: Sdk; readonly args: readonly string[] };

/**
 * Reads the command line of `npm run flash`.
 *
 * @throws SdkError that names what is missing or unknown
 */
export function planFlash(argv: readonly string[], env: NodeJS.ProcessEnv): FlashPlan {
	const { values, settings } = parseCommandLine(argv, OPTIONS);
	if (values.help) {
		return { help: HELP };
	}
	if (values.target === undefined) {
		throw new SdkError("--target is missing: esp32, esp32/esp32s3, esp32/m5stack_cores3, …");
	}
	const sdk = needSdk(env);
	checkTarget(sdk, values.target);
	if (!env.IDF_PATH || !existsSync(env.IDF_PATH)) {
		throw new SdkError(
			`IDF_PATH ${env.IDF_PATH ? `is ${env.IDF_PATH}, which is not there` : "is not set"}: it names the folder of ESP-IDF`,
		);
	}
	const flags = [...(values.debug ? ["-d"] : []), "-m", "-p", values.target];
	const build = values["build-only"] ? ["-t", "build"] : [];
	return { sdk, args: [...flags, ...build, ...settings] };
}

/** The chips that the firmware has a board for, and the SDK a target. */
function checkTarget({ root }: Sdk, target: string): void {
	const [platform, name, ...more] = target.split("/");
	const folder = join(root, "build", "devices", "esp32", "targets");
	const known = existsSync(folder) ? readdirSync(folder) : [];
	if (platform !== "esp32" || more.length > 0 || (name !== undefined && !known.includes(name))) {
		const all = ["esp32", ...known.map((each) => `esp32/${each}`)];
		throw new SdkError(`--target: ${target} is not known. Known are: ${all.join(", ")}`);
	}
}
