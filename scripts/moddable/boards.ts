import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Part } from "../../src/hardware/needs.js";
import { type BoardParts, readParts, toolsOf } from "./board-parts.js";
import { linkForChip } from "./mcconfig.js";
import { planMemory } from "./memory-plan.js";
import { type Sdk, SdkError } from "./sdk.js";
import { boardOf, findTarget, targetsWithBoards } from "./targets.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The folder in src/boards of a bare chip. */
const BARE_CHIP = "esp32";

/** The boards that docs/boards.md describes, and the chips that are built as bare ones: mcconfig's names. */
export const BOARDS: readonly string[] = targetsWithBoards();
export const CHIPS: readonly string[] = ["esp32/esp32s3", "esp32/esp32c3", "esp32/esp32c6"];

/** What docs/boards.md says of the parts and tools of boards, as their sources have them. Needs no SDK. */
export function describeBoards(): string {
	const boards = readParts(BOARDS.map((target) => boardOf(target).board));
	const bare = boards.get(BARE_CHIP) ?? { parts: [], optional: [] };
	const rows = BOARDS.filter((target) => target !== BARE_CHIP).map((target) => [
		code(target),
		...beyond(bare, boards.get(boardOf(target).board) ?? bare),
	]);
	return [
		`A bare chip has the parts ${listParts(bare.parts)}, and, unless the chip lacks them, ${listParts(bare.optional)}.`,
		`Its tools are ${toolsOf(partsOf(bare)).offered.map(code).join(", ")}.`,
		"",
		table(["target", "parts besides", "tools besides"], rows),
	].join("\n");
}

/** The parts and tools that a board has and a bare chip has not, if all of them answer. */
function beyond(bare: BoardParts, board: BoardParts): string[] {
	const parts = partsOf(board).filter((part) => !partsOf(bare).includes(part));
	const ofBareChip = toolsOf(partsOf(bare)).offered;
	const tools = toolsOf(partsOf(board)).offered.filter((tool) => !ofBareChip.includes(tool));
	return [listParts(parts), tools.map(code).join(", ")].map((list) => list || "–");
}

function partsOf({ parts, optional }: BoardParts): Part[] {
	return [...parts, ...optional];
}

function listParts(parts: readonly Part[]): string {
	return [...parts].sort().map(code).join(", ");
}

/**
 * Links the firmware for targets and tells what it takes.
 *
 * @param onTarget told each target before it is linked
 * @throws SdkError if a target does not link, or the C compiler makes no 32-bit objects
 */
export async function measureBoards(
	sdk: Sdk,
	targets: readonly string[],
	onTarget: (target: string) => void,
): Promise<string> {
	const rows: string[][] = [];
	for (const target of targets) {
		onTarget(target);
		rows.push(await measureBoard(sdk, target));
	}
	const heap = ["chunks", "slots", "longest message"];
	return table(["target", "chip", "flash", ...heap, "constant data (bytes)", "objects in it (slots)"], rows);
}

async function measureBoard(sdk: Sdk, name: string): Promise<string[]> {
	const target = findTarget(sdk, name);
	const { flashBytes, chunkBytes, slots, messageBytes } = await planMemory(sdk, ROOT, target, []);
	const { constant, objects } = measure(sdk, await linkForChip(sdk, ROOT, name, ["-p", name]));
	return [
		code(name),
		target.chip,
		`${flashBytes / 1024 / 1024} MB`,
		`${chunkBytes / 1024} KB`,
		thousands(slots),
		`${messageBytes / 1024} KB`,
		thousands(constant),
		thousands(objects),
	];
}

/** @param linked the linker's output */
function measure({ root }: Sdk, linked: string): { constant: number; objects: number } {
	const folders = [...["platforms", "includes", "sources"].map((name) => join(root, "xs", name)), dirname(linked)];
	const object = `${linked}.o`;
	run("gcc", ["-m32", "-c", "-w", ...folders.map((folder) => `-I${folder}`), linked, "-o", object]);
	const [text = 0, data = 0] = (run("size", [object]).split("\n")[1] ?? "").trim().split(/\s+/).map(Number);
	const objects = readFileSync(linked, "utf8").match(/^#define mxHeapCount (\d+)$/m)?.[1];
	return { constant: text + data, objects: Number(objects) };
}

function run(program: string, args: readonly string[]): string {
	const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
	if (status !== 0) {
		throw new SdkError(
			`${program} ${args[0]} failed, which measures what was linked: ${error?.message ?? stderr.trim()}`,
		);
	}
	return stdout;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
	return [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function code(name: string): string {
	return `\`${name}\``;
}

function thousands(count: number): string {
	return count.toLocaleString("en-US");
}
