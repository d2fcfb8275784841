import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Command } from "commander";
import type { Part } from "../../../../src/hardware/hardware.js";
import { ROOT } from "../../../root.js";
import { megabytesOf, PRESETS, partsOfData } from "../build/board-manifest.js";
import { BARE_CHIP, chipOfBoard } from "../build/check-board.js";
import { makeProgram, ProgramError } from "../build/program.js";
import { type BoardParts, readParts, toolsOf } from "./board-parts.js";
import { prepareTarget } from "./board-target.js";
import { estimateImage, readMemory } from "./image-size.js";
import { configureBuild, findTypeErrors } from "./mcconfig.js";
import { findSdk, NO_SDK, type Sdk } from "./sdk.js";
import { CHIPS, findTarget } from "./targets.js";

/** The share of its partition that an image must leave free. */
const LEAST_FREE = 0.05;

/** Targets of docs/boards.csv: the bare chips, then the boards. @internal */
export const TARGETS: readonly string[] = [
	BARE_CHIP,
	...CHIPS,
	...[...PRESETS.keys()].filter((name) => name !== BARE_CHIP).map((name) => `${BARE_CHIP}/${name}`),
];

/** Columns of docs/boards.csv. The last two are measured. @internal */
export const COLUMNS: readonly string[] =
	"target,board,chip,flash,PSRAM,parts,tools,lines of data,note,image in bytes,free flash in %".split(",");

/** `xs-mcp boards`: prints the tables of docs/boards.md, and rows of docs/boards.csv. */
export const boardsProgram = (): Command =>
	makeProgram("xs-mcp boards", "Prints the parts of each board, and links the firmware to measure its size.")
		.argument("[targets...]", "targets to link: esp32, esp32/m5stack_cores3, … (default: all in docs/boards.csv)")
		.action(async (targets: string[]) => {
			const bare = readParts([BARE_CHIP]).get(BARE_CHIP) as BoardParts;
			console.log(`${describeParts(bare)}\n\n${listBoards().join("\n")}\n`);
			const sdk = findSdk();
			if (sdk === undefined) {
				console.error(`Not linked: ${NO_SDK}`);
				return;
			}
			await measureBoards(sdk, targets.length > 0 ? targets : TARGETS, [...bare.parts, ...bare.optional]);
		});

/** The table of parts and their tools. */
function describeParts({ parts: always, optional }: BoardParts): string {
	const bare = [...always, ...optional];
	const own = toolsOf(bare);
	const toolsWith = (part: Part): string[] => toolsOf([...bare, part]).filter((tool) => !own.includes(tool));
	const parts = [...new Set([...PRESETS.values()].flatMap(partsOfData))].sort();
	const rows = parts.map((part) => [code(part), toolsWith(part).map(code).join(", ")]);
	return [
		`A bare chip has the parts ${list(always)}, and, if chip and build have them, ${list(optional)}.`,
		`Its tools are ${own.map(code).join(", ")}.`,
		"",
		...table(
			["part", "tools"],
			rows.filter(([, tools]) => tools !== ""),
		),
	].join("\n");
}

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
 * @param bare parts of every chip
 * @param measured image and free flash
 * @internal
 */
export function boardRow(target: string, bare: readonly Part[], measured: readonly string[]): string {
	const name = PRESETS.has(basename(target)) ? basename(target) : BARE_CHIP;
	const data = PRESETS.get(name) ?? {};
	const { title = name, psram = "", note = "" } = data;
	const parts = partsOfData(data);
	const text = readFileSync(join(ROOT, "src/hardware/boards/presets.json"), "utf8");
	const [, lines = ""] = new RegExp(`^\t"${name}": {\n(.*?)\n\t}`, "ms").exec(text) ?? [];
	const count = lines.split("\n").filter((line) => !/^\t\t"(title|source|note)": /.test(line)).length;
	const ofChip = bare.filter((part) => part !== "accessPoint" || data.ethernet === undefined);
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
async function measureBoards(sdk: Sdk, targets: readonly string[], bare: readonly Part[]): Promise<void> {
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
		const free = 1 - image / readMemory(configured, found.chip).partitionBytes;
		if (free < LEAST_FREE) {
			faults.push(`${name}: an image of about ${image} bytes leaves ${percent(free)} % of its partition`);
		}
		console.log(boardRow(name, bare, [String(image), percent(free)]));
	}
	if (faults.length > 0) {
		throw new ProgramError(`5 % of a partition must stay free:\n${faults.join("\n")}`);
	}
}

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string[] =>
	[heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);

const list = (parts: readonly Part[]): string => [...parts].sort().map(code).join(", ");

const code = (name: string): string => `\`${name}\``;

const percent = (share: number): string => (share * 100).toFixed(1);
