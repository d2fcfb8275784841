import type { Part } from "../../src/hardware/needs.js";
import { ROOT } from "../../toolchain/root.js";
import { type BoardParts, readParts, toolsOf } from "./board-parts.js";
import { findTypeErrors } from "./build-types.js";
import { estimateImage, LEAST_FREE, measureConstantData, measureFonts, readMemory } from "./image-size.js";
import { configureBuild, linkForChip } from "./mcconfig.js";
import { type Sdk, SdkError } from "./sdk.js";
import { BARE_CHIP, boardOf, findTarget, namedTargets } from "./targets.js";

const MEGABYTE = 1024 * 1024;

/** Targets that docs/boards.md describes: those with a board of their own and the plain ESP32, and the other bare chips. */
export const BOARDS: readonly string[] = namedTargets().filter(
	(name) => name === BARE_CHIP || boardOf(name).board !== BARE_CHIP,
);
export const CHIPS: readonly string[] = namedTargets().filter((name) => !BOARDS.includes(name));

/** The tables of parts and tools in docs/boards.md, from the boards' sources. Needs no SDK. */
export function describeBoards(): string {
	const boards = readParts(BOARDS.map((target) => boardOf(target).board));
	const bare = boards.get(BARE_CHIP) ?? { parts: [], optional: [] };
	const beyond = (target: string): Part[] =>
		partsOf(boards.get(boardOf(target).board) ?? bare).filter((part) => !partsOf(bare).includes(part));
	const targets = BOARDS.filter((target) => target !== BARE_CHIP);
	const parts = [...new Set(targets.flatMap(beyond))].sort();
	return [
		`A bare chip has the parts ${listParts(bare.parts)}, and, if chip and build have them, ${listParts(bare.optional)}.`,
		`Its tools are ${toolsOf(partsOf(bare)).offered.map(code).join(", ")}.`,
		"",
		table(
			["target", "parts besides"],
			targets.map((target) => [code(target), listParts(beyond(target)) || "–"]),
		),
		"",
		"A board offers the tools of its parts:",
		"",
		table(
			["part", "tools"],
			parts
				.map((part) => [code(part), toolsOfPart(part, bare).map(code).join(", ")])
				.filter(([, tools]) => tools !== ""),
		),
	].join("\n");
}

/** The tools that a bare chip has with a part and lacks without it. */
function toolsOfPart(part: Part, bare: BoardParts): string[] {
	const without = toolsOf(partsOf(bare)).offered;
	return toolsOf([...partsOf(bare), part]).offered.filter((tool) => !without.includes(tool));
}

function partsOf({ parts, optional }: BoardParts): Part[] {
	return [...parts, ...optional];
}

function listParts(parts: readonly Part[]): string {
	return [...parts].sort().map(code).join(", ");
}

/** The memory that boards take, as a table, and its problems. */
interface Measured {
	readonly table: string;
	/** The boards that leave too little room, a line for each. */
	readonly faults: readonly string[];
}

/**
 * Checks the types of the firmware for targets, links it and measures it.
 *
 * @param onTarget called for each target before it is linked
 * @throws SdkError if a target has type errors or does not link, or the C compiler has no 32-bit support
 */
export async function measureBoards(
	sdk: Sdk,
	targets: readonly string[],
	onTarget: (target: string) => void,
): Promise<Measured> {
	const rows: string[][] = [];
	const faults: string[] = [];
	for (const name of targets) {
		onTarget(name);
		const { chip, board } = findTarget(sdk, name);
		const configured = await configureBuild(sdk, ROOT, name);
		const errors = findTypeErrors(configured);
		if (errors !== "") {
			throw new SdkError(`${name}: type errors\n${errors}`);
		}
		const { flashBytes, chunkBytes, partitionBytes, fonts } = readMemory(configured, chip);
		const constant = measureConstantData(sdk, await linkForChip(sdk, ROOT, name));
		const { parts = [] } = readParts([board]).get(board) ?? {};
		const image = estimateImage(constant, measureFonts(sdk, fonts), parts);
		const free = 1 - image / partitionBytes;
		if (free < LEAST_FREE) {
			faults.push(`${name}: an image of about ${thousands(image)} bytes leaves ${percent(free)} of its partition`);
		}
		rows.push([
			code(name),
			chip,
			`${flashBytes / MEGABYTE} MB`,
			`${chunkBytes / 1024} KB`,
			thousands(image),
			percent(free),
		]);
	}
	const heads = ["target", "chip", "flash", "chunks", "image (about)", "free"];
	return { table: table(heads, rows), faults };
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
	return [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
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
