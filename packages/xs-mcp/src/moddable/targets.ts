import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { BoardData } from "../../../../src/hardware/board-data.js";
import { ROOT } from "../../../root.js";
import { PRESETS } from "../build/board-manifest.js";
import { BARE_CHIP, chipOf, suggestTarget } from "../build/check-board.js";
import { ProgramError } from "../build/program.js";
import type { Sdk } from "./sdk.js";

/** Name of a maker's board in the identity of the firmware. */
const OWN_BOARD = "esp32/own";

/** The board that only QEMU has. */
const EMULATED = "esp32/qemu";

/** Keys in the manifest of targets that it does not name. */
const OTHERS: readonly string[] = ["esp32/*", "*/generated"];

/** The reason why a chip cannot run the firmware. All other chips of the SDK have Wi-Fi. */
const WITHOUT_WIFI: Readonly<Record<string, string>> = {
	esp32h2: "its radio knows Bluetooth LE, Thread and Zigbee only",
	esp32h4: "its radio knows Bluetooth LE, Thread and Zigbee only",
	esp32p4: "it has no radio",
};

interface Manifest {
	readonly build?: { readonly ESP32_SUBCLASS?: string };
	readonly defines?: { readonly ethernet?: object };
	readonly platforms?: Readonly<Record<string, { readonly include?: string }>>;
}

const readManifest = (path: string): Manifest => JSON.parse(readFileSync(path, "utf8"));

const { platforms: PLATFORMS = {} } = readManifest(join(ROOT, "src/build/manifest_minimal.json"));

/** The targets of chips that the manifest names. */
const NAMED = Object.keys(PLATFORMS).filter(
	(name) => name.split("/")[0] === BARE_CHIP && name !== EMULATED && !OTHERS.includes(name),
);

/** Targets of docs/boards.md: those with a board of their own and the plain ESP32, and the other bare chips. */
export const BOARDS = NAMED.filter((name) => name === BARE_CHIP || boardOf(name).board !== BARE_CHIP);
export const CHIPS = NAMED.filter((name) => !BOARDS.includes(name));

export interface Target {
	/** mcconfig's name: "esp32/m5stack_cores3". */
	readonly name: string;
	/** ESP-IDF's name: "esp32s3". */
	readonly chip: string;
	/** Its name in src/hardware/boards. */
	readonly board: string;
	/** Whether the manifest names it. Others are built as a bare chip with the SDK's settings of ESP-IDF. */
	readonly isNamed: boolean;
	/** Whether the SDK's target has Ethernet, which no board of the firmware opens. */
	readonly hasEthernet: boolean;
	/** The data of which its target is made. Undefined for a target of the SDK. */
	readonly data?: BoardData;
}

/**
 * Finds a target by mcconfig's name, or that of a board as data.
 *
 * @throws ProgramError if neither the SDK nor a preset has it, or the chip has no Wi-Fi
 */
export function findTarget({ root }: Sdk, board: string | BoardData): Target {
	const name = typeof board === "string" ? board : OWN_BOARD;
	const data = typeof board === "string" ? PRESETS.get(board.split("/").at(-1) ?? "") : board;
	if (data !== undefined && !boardOf(name).isNamed) {
		return {
			name,
			chip: chipOf(data),
			board: basename(name),
			isNamed: true,
			hasEthernet: false,
			data,
		};
	}
	const folder = join(root, "build", "devices", "esp32", "targets");
	const names = existsSync(folder) ? readdirSync(folder) : [];
	const known = [BARE_CHIP, ...names.map((each) => `${BARE_CHIP}/${each}`)];
	if (!known.includes(name)) {
		throw new ProgramError(`--target: unknown target ${name}. ${suggestTarget(name, [...names, ...PRESETS.keys()])}`);
	}
	const manifest = name === BARE_CHIP ? {} : readManifest(join(folder, basename(name), "manifest.json"));
	const chip = manifest.build?.ESP32_SUBCLASS ?? BARE_CHIP;
	const reason = WITHOUT_WIFI[chip];
	if (reason !== undefined) {
		throw new ProgramError(`--target: ${name} has the chip ${chip}, which has no Wi-Fi: ${reason}`);
	}
	return { name, chip, ...boardOf(name), hasEthernet: manifest.defines?.ethernet !== undefined };
}

/** Finds the board in src/hardware/boards that is built for a target, whether or not the SDK knows it. @internal */
export function boardOf(name: string): Pick<Target, "board" | "isNamed"> {
	const isNamed = PLATFORMS[name] !== undefined;
	const isBoard = PRESETS.has(basename(name)) || (isNamed && !PLATFORMS[name]?.include?.includes("/boards/esp32/"));
	return { board: isBoard ? basename(name) : BARE_CHIP, isNamed };
}
