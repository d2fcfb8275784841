import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { makeProgram, ProgramError } from "../../toolchain/program.js";
import { ROOT } from "../../toolchain/root.js";
import { BOARDS, CHIPS } from "./boards.js";
import { needIdf } from "./flash.js";
import { needSdk, type Sdk } from "./sdk.js";
import { addSettings } from "./settings.js";
import { findTarget, type Target } from "./targets.js";

const EPILOGUE = `
The output folder gets SHA256SUMS, and a folder for each board: its images, a manifest.json for web flashers, and flash_args
for esptool. Everybody can read the settings in an image: passwords and tokens are rejected.
npm run doctor -- --for build says what is missing, and how to get it.`;

/** Settings that must not be published. */
const SECRETS = [
	"ssid",
	"password",
	"setupPassword",
	"token",
	"httpToken",
	"hmacKey",
	"serialNumber",
	"mqttUsername",
	"mqttPassword",
];

interface FirmwareOptions {
	readonly target: readonly string[];
	readonly from: readonly FinishedBuild[];
	readonly output: string;
}

/** An existing build of ESP-IDF. */
interface FinishedBuild {
	readonly board: string;
	/** The folder with flasher_args.json. */
	readonly folder: string;
}

/** The options of the command line. */
export interface FirmwarePlan {
	/** The targets to build first. */
	readonly build:
		| { readonly sdk: Sdk; readonly targets: readonly Target[]; readonly settings: readonly string[] }
		| undefined;
	readonly finished: readonly FinishedBuild[];
	readonly output: string;
}

/** `npm run firmware`: calls `run` with its options. */
export function firmwareProgram(
	run: (plan: FirmwarePlan) => Promise<void>,
	env: NodeJS.ProcessEnv = process.env,
): Command {
	const program = makeProgram("run firmware", "Builds firmware images to publish.")
		.option(
			"--target <target>",
			"mcconfig's name of a board to build for; may be repeated. all: those in docs/boards.md",
			collect,
			[],
		)
		.option("--from <board=folder>", "a finished build of ESP-IDF; may be repeated", collectBuild, [])
		.option("--output <folder>", "output folder", "dist/firmware")
		.addHelpText("after", EPILOGUE);
	return addSettings(program, ROOT, "otaUrl=https://HOST/PATH …").action(
		(settings: string[], options: FirmwareOptions) => run(planFirmware(settings, options, env)),
	);
}

/** @throws ProgramError that names what is missing, unknown or secret */
function planFirmware(settings: readonly string[], options: FirmwareOptions, env: NodeJS.ProcessEnv): FirmwarePlan {
	const { target, from: finished, output } = options;
	const names = target.includes("all") ? [...CHIPS, ...BOARDS] : target;
	if (names.length === 0 && finished.length === 0) {
		throw new ProgramError("--target or --from is missing: the boards to make images for");
	}
	const secret = settings.map((setting) => setting.split("=")[0] ?? "").find((name) => SECRETS.includes(name));
	if (secret !== undefined) {
		throw new ProgramError(`${secret}: would be readable in the published image; users set it on their own boards`);
	}
	if (names.length > 0) {
		const sdk = needSdk(env);
		const targets = names.map((name) => findTarget(sdk, name));
		needIdf(env);
		return { build: { sdk, targets, settings }, finished, output };
	}
	return { build: undefined, finished, output };
}

/**
 * The folder in which ESP-IDF builds a target.
 *
 * @param output the folder that mcconfig is given
 * @param program its name in the manifest
 */
export function buildFolder(output: string, { name, chip }: Pick<Target, "name" | "chip">, program: string): string {
	return join(output, "tmp", ...name.split("/"), "release", program, `xsProj-${chip}`, "build");
}

function collect(word: string, words: readonly string[]): readonly string[] {
	return [...words, word];
}

function collectBuild(word: string, builds: readonly FinishedBuild[]): readonly FinishedBuild[] {
	const [, board, folder] = /^([\w-]+)=(.+)$/.exec(word) ?? [];
	if (board === undefined || folder === undefined) {
		throw new InvalidArgumentError(`Expected BOARD=FOLDER, got ${word}.`);
	}
	return [...builds, { board, folder }];
}
