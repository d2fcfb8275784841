import type { Command } from "commander";
import type { Part } from "../../../../src/hardware/needs.js";
import { ROOT } from "../../../root.js";
import { BARE_CHIP } from "../build/check-board.js";
import { makeProgram, ProgramError } from "../build/program.js";
import { type BoardParts, readParts, toolsOf } from "./board-parts.js";
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
			console.log(`${describeBoards(boards.get(BARE_CHIP) as BoardParts, partsOf)}\n`);
			const sdk = findSdk();
			if (sdk === undefined) {
				console.error(`Not linked: ${NO_SDK}`);
				return;
			}
			await measureBoards(sdk, targets.length > 0 ? targets : [...CHIPS, ...BOARDS].sort(), partsOf);
		});

/** The tables of parts and tools. */
function describeBoards({ parts: always, optional }: BoardParts, partsOf: PartsOf): string {
	const bare = [...always, ...optional];
	const beyond = (target: string): Part[] => partsOf(target).filter((part) => !bare.includes(part));
	const own = toolsOf(bare);
	const toolsWith = (part: Part): string[] => toolsOf([...bare, part]).filter((tool) => !own.includes(tool));
	const targets = BOARDS.filter((target) => target !== BARE_CHIP);
	const parts = [...new Set(targets.flatMap(beyond))].sort();
	return [
		`A bare chip has the parts ${list(always)}, and, if chip and build have them, ${list(optional)}.`,
		`Its tools are ${own.map(code).join(", ")}.`,
		"",
		table(
			["target", "parts besides"],
			targets.map((target) => [code(target), list(beyond(target)) || "–"]),
		),
		"",
		"A board offers the tools of its parts:",
		"",
		table(
			["part", "tools"],
			parts.map((part) => [code(part), toolsWith(part).map(code).join(", ")]).filter(([, tools]) => tools !== ""),
		),
	].join("\n");
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
		const { chip } = findTarget(sdk, name);
		const configured = await configureBuild(sdk, ROOT, name);
		const errors = findTypeErrors(configured);
		if (errors !== "") {
			throw new ProgramError(`${name}: type errors\n${errors}`);
		}
		const { flashBytes, chunkBytes, partitionBytes } = readMemory(configured, chip);
		const image = await estimateImage(sdk, name, partsOf(name));
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
