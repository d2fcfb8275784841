import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Command, Option } from "commander";
import { BARE_CHIP, checkDevice } from "../build/check-board.js";
import { fromProject } from "../build/manifests.js";
import { attempt, failAs, makeProgram, ProgramError } from "../build/program.js";
import { readDevice } from "../build/read-device.js";
import { ROOT } from "../root.js";
import { linkForChip, mcconfig, nameOf, outputOf, prepareTarget } from "./mcconfig.js";
import { checkPort, choosePort, eraseFlash } from "./ports.js";
import { findTarget, needIdf, needSdk, sdkEnvironment, type Target } from "./sdk.js";
import { addSettings } from "./settings.js";

const EPILOGUE = `
Runs mcconfig -m -p TARGET with these settings; the log that follows ends with Ctrl-]. $MODDABLE names the folder of
Moddable's SDK, $IDF_PATH the folder of ESP-IDF, and $UPLOAD_PORT the serial port, as --port does. xs-mcp doctor says what
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

/**
 * `xs-mcp flash`: builds a manifest with mcconfig, and flashes it.
 *
 * @param folder of the manifest
 */
export function flashProgram(folder: string, env: NodeJS.ProcessEnv = process.env): Command {
	const program = makeProgram("xs-mcp flash", "Builds the firmware for a chip with mcconfig, and puts it there.")
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
		async (settings: string[], options: FlashOptions) => {
			const manifest = fromProject(join(folder, "manifest.json"));
			const device = await readDevice(manifest, options.target ?? BARE_CHIP).catch(failAs());
			// The firmware alone is for any board. A project has its own, or a bare chip.
			const preset = relative(ROOT, folder) === "" ? undefined : BARE_CHIP;
			const board = options.target ?? device?.board ?? preset;
			if (board === undefined) {
				throw new ProgramError("--target is missing: mcconfig's name of the board, such as esp32/m5stack_cores3");
			}
			const { port, log, debug, erase, buildOnly, linkOnly } = options;
			const sdk = needSdk(env);
			const target = findTarget(sdk, board);
			const { name } = target;
			if (!linkOnly) {
				needIdf(env);
			}
			const aboutParts = attempt(undefined, () => device && checkDevice(device, board));
			for (const warning of [...(device?.warnings ?? []), ...(aboutParts ?? [])]) {
				console.error(`warning: ${warning}`);
			}
			const mcTarget = prepareTarget(sdk, target, folder);
			if (target.hasEthernet) {
				console.log(`${name}: its Ethernet is not used. The firmware connects by Wi-Fi.`);
			}
			if (linkOnly) {
				await linkForChip(sdk, folder, mcTarget, settings);
				console.log(`The firmware links for ${name}.`);
				return;
			}
			const buildEnv = sdkEnvironment(sdk, env);
			if (!buildOnly) {
				buildEnv.UPLOAD_PORT = choosePort(port ?? env.UPLOAD_PORT);
				checkPort(buildEnv.UPLOAD_PORT);
				if (erase) {
					eraseFlash(buildEnv.UPLOAD_PORT, buildEnv);
				}
			}
			if (!target.isNamed) {
				console.log(`${name} is built as a bare ${target.chip}: docs/add-a-board.md adds its parts.`);
				addIdfSettings(folder, target, debug ? "debug" : log ? "instrument" : "release");
			}
			const flags = debug ? ["-d"] : log ? ["-i"] : [];
			const args = [...flags, "-p", mcTarget, ...(buildOnly ? ["-t", "build"] : []), ...settings];
			// mcconfig has one name for all targets that are made of data.
			const output = target.data === undefined ? outputOf(folder) : join(`${outputOf(folder)}-built`, target.board);
			await mcconfig(sdk, folder, args, { show: true, env: buildEnv, output });
		},
	);
}

/**
 * Adds the firmware's settings of ESP-IDF to a build for a target that has only the SDK's. ESP-IDF reads this file after those
 * of mcconfig, because its name ends with the chip's.
 */
function addIdfSettings(folder: string, { name, chip }: Target, kind: string): void {
	const project = join(outputOf(folder), "tmp", ...name.split("/"), kind, nameOf(folder), `xsProj-${chip}`);
	const own = join(ROOT, "src/hardware/boards/esp32/sdkconfig");
	const texts = readdirSync(own)
		.filter((file) => kind !== "debug" || !file.endsWith(".release"))
		.map((file) => readFileSync(join(own, file), "utf8"));
	mkdirSync(project, { recursive: true });
	writeFileSync(join(project, `sdkconfig.mc.${chip}`), texts.join(""));
}
