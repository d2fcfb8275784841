import type { Command } from "commander";
import type { Part } from "../../../../src/hardware/needs.js";
import { ROOT } from "../../../root.js";
import { megabytesOf, PRESETS, partsOfData } from "../build/board-manifest.js";
import { BARE_CHIP, chipOf } from "../build/check-board.js";
import { makeProgram, ProgramError } from "../build/program.js";
import { type BoardParts, readParts, toolsOf } from "./board-parts.js";
import { prepareTarget } from "./board-target.js";
import { estimateImage, readMemory } from "./image-size.js";
import { configureBuild, findTypeErrors } from "./mcconfig.js";
import { findSdk, NO_SDK, type Sdk } from "./sdk.js";
import { BOARDS, boardOf, CHIPS, findTarget } from "./targets.js";

const MEGABYTE = 1024 * 1024;

/** The share of its partition that an image must leave free. */
const LEAST_FREE = 0.05;

/** All parts of a target's board. */
type PartsOf = (target: string) => readonly Part[];

/** `xs-mcp boards`: prints the tables of docs/boards.md. */
export const boardsProgram = (): Command =>
	makeProgram("xs-mcp boards", "Prints the parts of each board, and links the firmware to measure its size.")
		.argument("[targets...]", "targets to link: esp32, esp32/m5stack_cores3, … (default: all in docs/boards.md)")
		.action(async (targets: string[]) => {
			const boards = readParts([...new Set([...BOARDS, ...targets].map((target) => boardOf(target).board))]);
			const partsOf: PartsOf = (target) => Object.values(boards.get(boardOf(target).board) ?? {}).flat();
			console.log(`${describeBoards(boards.get(BARE_CHIP) as BoardParts)}\n`);
			const sdk = findSdk();
			if (sdk === undefined) {
				console.error(`Not linked: ${NO_SDK}`);
				return;
			}
			await measureBoards(sdk, targets.length > 0 ? targets : [...CHIPS, ...BOARDS].sort(), partsOf);
		});

/** The tables of boards, parts and tools. */
function describeBoards({ parts: always, optional }: BoardParts): string {
	const bare = [...always, ...optional];
	const own = toolsOf(bare);
	const toolsWith = (part: Part): string[] => toolsOf([...bare, part]).filter((tool) => !own.includes(tool));
	const parts = [...new Set([...PRESETS.values()].flatMap(partsOfData))].sort();
	return [
		`A bare chip has the parts ${list(always)}, and, if chip and build have them, ${list(optional)}.`,
		`Its tools are ${own.map(code).join(", ")}.`,
		"",
		...listBoards(),
		"",
		"A board offers the tools of its parts:",
		"",
		table(
			["part", "tools"],
			parts.map((part) => [code(part), toolsWith(part).map(code).join(", ")]).filter(([, tools]) => tools !== ""),
		),
	].join("\n");
}

/** The table of docs/boards.md: every board that is data, and its notes. @internal */
export function listBoards(): readonly string[] {
	const boards = [...PRESETS].filter(([name]) => name !== BARE_CHIP).sort(([one], [other]) => (one < other ? -1 : 1));
	const rows = boards.map(([name, data]) => {
		const memory = [chipOf(data), `${megabytesOf(data)} MB`, ...(data.psram ? [`PSRAM ${data.psram}`] : [])];
		return [code(`esp32/${name}`), data.title ?? name, memory.join(", "), list(partsOfData(data)) || "–"];
	});
	const notes = boards.flatMap(([, { title, note }]) => (note === undefined ? [] : [`- ${title}: ${note}`]));
	return [...table(["target", "board", "chip and memory", "additional parts"], rows).split("\n"), "", ...notes];
}

/**
 * Checks the types of the firmware for targets, links it and prints the memory that it takes.
 *
 * @throws ProgramError if a target has type errors or does not link, or the C compiler has no 32-bit support
 * @throws ProgramError that names the boards with too little room
 */
async function measureBoards(sdk: Sdk, targets: readonly string[], partsOf: PartsOf): Promise<void> {
	const rows: string[][] = [];
	const faults: string[] = [];
	for (const name of targets) {
		console.error(`Linking ${name} …`);
		const found = findTarget(sdk, name);
		const { chip } = found;
		const target = prepareTarget(sdk, found, ROOT);
		const configured = await configureBuild(sdk, ROOT, target);
		const errors = findTypeErrors(configured);
		if (errors !== "") {
			throw new ProgramError(`${name}: type errors\n${errors}`);
		}
		const { flashBytes, chunkBytes, partitionBytes } = readMemory(configured, chip);
		const image = await estimateImage(sdk, target, partsOf(name));
		const free = 1 - image / partitionBytes;
		if (free < LEAST_FREE) {
			faults.push(`${name}: an image of about ${thousands(image)} bytes leaves ${percent(free)} of its partition`);
		}
		const memory = [`${flashBytes / MEGABYTE} MB`, `${chunkBytes / 1024} KB`];
		rows.push([code(name), chip, ...memory, thousands(image), percent(free)]);
	}
	console.log(table(["target", "chip", "flash", "chunks", "image (about)", "free"], rows));
	if (faults.length > 0) {
		throw new ProgramError(`5 % of a partition must stay free:\n${faults.join("\n")}`);
	}
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
	return [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function list(parts: readonly Part[]): string {
	return [...parts].sort().map(code).join(", ");
}

function code(name: string): string {
	return `\`${name}\``;
}

function percent(share: number): string {
	return `${(share * 100).toFixed(1)} %`;
}

function thousands(count: number): string {
	return count.toLocaleString("en-US");
}
