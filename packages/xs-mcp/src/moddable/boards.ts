import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Command } from "commander";
import { type Hardware, isOffered, type Part } from "xs-mcp-firmware/hardware/hardware";
import { megabytesOf, PRESETS, partsOfData } from "../build/board-manifest.js";
import { BARE_CHIP, chipOfBoard, TARGETS } from "../build/check-board.js";
import { makeProgram, ProgramError } from "../build/program.js";
import { ROOT } from "../root.js";
import { configureBuild, findTypeErrors, linkForChip, measureData, prepareTarget } from "./mcconfig.js";
import { findTarget, needSdk, type Sdk } from "./sdk.js";
import "../build/xs-globals.js";
import { importBundle } from "../build/import-bundle.js";
import { modulesPlugin } from "../build/modules-plugin.js";

/** The share of its partition that an image must leave free. */
const LEAST_FREE = 0.05;

/** Columns of docs/boards.csv. The last two are measured. @internal */
export const COLUMNS: readonly string[] =
	"target,board,chip,flash,PSRAM,parts,tools,lines of data,note,image in bytes,free flash in %".split(",");

/** `xs-mcp boards`: prints the list of docs/boards.md, or rows of docs/boards.csv. */
export const boardsProgram = (): Command =>
	makeProgram("xs-mcp boards", "Prints the parts of each board, or links the firmware to measure its size.")
		.argument("[targets...]", "targets to link: esp32, esp32/m5stack_cores3, …; all: those in docs/boards.csv")
		.action(async (targets: string[]) => {
			if (targets.length === 0) {
				console.log(listBoards().join("\n"));
				return;
			}
			await measureBoards(needSdk(), targets.includes("all") ? TARGETS : targets);
		});

/** The parts of every ESP32 with Wi-Fi, as src/hardware/drivers/open-esp32.ts opens them. @internal */
export const BARE: readonly Part[] = ["network", "accessPoint", "system", "settings", "clock"];

/** Optional parts: not every chip has a thermometer, and not every build updates itself. @internal */
export const BARE_OPTIONAL: readonly Part[] = ["updater", "thermometer"];

const OF_BARE = [...BARE, ...BARE_OPTIONAL];

/** The list of docs/boards.md. @internal */
export const listBoards = (): readonly string[] =>
	[...PRESETS]
		.filter(([name]) => name !== BARE_CHIP)
		.map(([name, data]) => {
			const parts = partsOfData(data).filter((part) => part !== "player" && part !== "preview");
			return `- ${data.title} \`esp32/${name}\`${parts.length > 0 ? ": " : ""}${[...parts].sort().join(", ")}`;
		})
		.sort();

/**
 * Makes the row of a target in docs/boards.csv.
 *
 * @param measured image and free flash
 * @internal
 */
export function boardRow(target: string, measured: readonly string[]): string {
	const name = PRESETS.has(basename(target)) ? basename(target) : BARE_CHIP;
	const data = PRESETS.get(name) ?? {};
	const { title = name, psram = "", note = "" } = data;
	const parts = partsOfData(data);
	const text = readFileSync(join(ROOT, "src/hardware/boards/presets.json"), "utf8");
	const [, lines = ""] = new RegExp(`^\t"${name}": {\n(.*?)\n\t}`, "ms").exec(text) ?? [];
	const count = lines.split("\n").filter((line) => !/^\t\t"(title|source|note)": /.test(line)).length;
	const ofChip = OF_BARE.filter((part) => part !== "accessPoint" || data.ethernet === undefined);
	const tools = toolsOf([...ofChip, ...parts]).length;
	const memory = [chipOfBoard(target), `${megabytesOf(data)}MB`, psram];
	const cells = [target, title, ...memory, [...parts].sort().join(" "), tools, count, note, ...measured].map(String);
	return cells.map((cell) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",");
}

/**
 * Checks the types of the firmware for targets, links it and prints the memory that it takes, as rows of docs/boards.csv.
 *
 * @throws ProgramError if a target has type errors or does not link, or the C compiler has no 32-bit support
 * @throws ProgramError that names the boards with too little room
 */
async function measureBoards(sdk: Sdk, targets: readonly string[]): Promise<void> {
	const faults: string[] = [];
	console.log(COLUMNS.join(","));
	for (const name of targets) {
		console.error(`Linking ${name} …`);
		const found = findTarget(sdk, name);
		const target = prepareTarget(sdk, found, ROOT);
		const configured = await configureBuild(sdk, ROOT, target);
		const errors = findTypeErrors(configured);
		if (errors !== "") {
			throw new ProgramError(`${name}: type errors\n${errors}`);
		}
		const image = await estimateImage(sdk, target, partsOfData(PRESETS.get(basename(name)) ?? {}));
		const free = 1 - image / partitionBytes(configured, found.chip);
		if (free < LEAST_FREE) {
			faults.push(`${name}: an image of about ${image} bytes leaves ${percent(free)} % of its partition`);
		}
		console.log(boardRow(name, [String(image), percent(free)]));
	}
	if (faults.length > 0) {
		throw new ProgramError(`5 % of a partition must stay free:\n${faults.join("\n")}`);
	}
}

const percent = (share: number): string => (share * 100).toFixed(1);

const TOOLS = await loadTools();

/** The parts that the application adds on every board. */
const OF_EVERY_BOARD: readonly Part[] = ["device", "http", "log"];

/**
 * The names of the tools that a board with these parts offers.
 *
 * @internal exported for a test
 */
export function toolsOf(parts: readonly Part[]): string[] {
	const made: Part[] = parts.includes("updater") ? ["installer"] : [];
	if (parts.includes("accessPoint")) {
		made.push("wifiSetup");
	}
	const hardware: Hardware = Object.fromEntries([...OF_EVERY_BOARD, ...made, ...parts].map((part) => [part, {}]));
	return TOOLS.filter((tool) => isOffered(tool, hardware)).map(({ name }) => name);
}

/**
 * The firmware's tools, in the order of the list.
 *
 * @internal exported for a test
 */
export async function loadTools() {
	const file = join(ROOT, "src/platform/tools.ts");
	const { findTools } = await importBundle<typeof import("xs-mcp-firmware/platform/tools")>(file, modulesPlugin());
	return findTools();
}

/**
 * Bytes of a bare chip's image without its constant data and resources: XS, the SDK's C, ESP-IDF with Wi-Fi and TLS.
 * These are about 1,001,000 in the linked image of `esp32` (docs/boards.md), plus the 54,432 by which an ESP32-C3's
 * image with Ethernet is larger than an ESP32's (host-test/esp32/README.md).
 */
const CODE_BYTES = 1_055_184;

/** The same with a screen: the maximum of the three boards that were linked, which `esp32/m5stack_core2` has. */
const CODE_BYTES_WITH_SCREEN = 1_150_595;

/** Bytes that a part's C library adds, by linked images of Core2 and CoreS3: libopus, 28,000 less on an ESP32; the driver of cameras. */
const LIBRARY_BYTES: Partial<Record<Part, number>> = { codec: 220_000, camera: 63_000 };

/** Reads the bytes of the smallest partition for firmware. @param folder of the program in a configured build */
function partitionBytes(folder: string, chip: string): number {
	const rows = readFileSync(join(folder, `xsProj-${chip}`, "partitions.csv"), "utf8").split("\n");
	const cells = rows.map((row) => row.split(",").map((cell) => cell.trim()));
	return Math.min(...cells.filter(([, type]) => type === "app").map(([, , , , size]) => Number(size)));
}

/**
 * Links the firmware, and estimates the bytes of its image.
 *
 * @param target as mcconfig calls it
 * @param parts of the board
 * @throws ProgramError if it does not link, or the C compiler has no 32-bit support
 */
async function estimateImage(sdk: Sdk, target: string, parts: readonly Part[]): Promise<number> {
	const constant = measureData(sdk, await linkForChip(sdk, ROOT, target));
	const resources = measureData(sdk, await linkForChip(sdk, ROOT, target, [], "mc.resources.c"));
	const code = parts.includes("screen") ? CODE_BYTES_WITH_SCREEN : CODE_BYTES;
	return parts.reduce((sum, part) => sum + (LIBRARY_BYTES[part] ?? 0), constant + resources + code);
}
