import { join } from "node:path";
import ts from "typescript";
import { PRESETS, partsOfData } from "xs-mcp/build/board-manifest";
import { ROOT } from "xs-mcp/root";
import type { Part } from "../../src/hardware/hardware.js";

/** The parts of a board. */
interface BoardParts {
	readonly parts: readonly Part[];
	/** Optional parts: not every chip has a thermometer, and a sensor may not answer. */
	readonly optional: readonly Part[];
}

/** Members of a board that are not parts. */
const NO_PARTS: readonly string[] = ["name", "close", "serials", "bootButton", "power"];

/** The source of the parts of every ESP32 board with Wi-Fi. */
const BARE = join(ROOT, "src/hardware/drivers/open-esp32.ts");

/**
 * Reads the parts of boards: from their data, and those of every chip and of other boards from their sources, with the compiler,
 * which takes seconds.
 *
 * @param boards names in src/hardware/boards
 * @throws Error that names a source without openBoard()
 */
export function readParts(boards: readonly string[]): Map<string, BoardParts> {
	const { config } = ts.readConfigFile(join(ROOT, "src/tsconfig.json"), ts.sys.readFile);
	const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, join(ROOT, "src"), { noEmit: true });
	const fileOf = (board: string): string =>
		PRESETS.has(board) ? BARE : join(ROOT, "src", "hardware", "boards", board, "board.ts");
	const declarations = fileNames.filter((name) => name.endsWith(".d.ts"));
	const program = ts.createProgram([...declarations, BARE, ...boards.map(fileOf)], options);
	return new Map(
		boards.map((board) => {
			const { parts, optional } = partsIn(program, fileOf(board));
			return [board, { parts: [...parts, ...partsOfData(PRESETS.get(board) ?? {})], optional }];
		}),
	);
}

function partsIn(program: ts.Program, file: string): BoardParts {
	const checker = program.getTypeChecker();
	const source = program.getSourceFile(file);
	const module = source && checker.getSymbolAtLocation(source);
	const exported = module ? checker.getExportsOfModule(module) : [];
	const open = exported.find(({ name }) => name === "openBoard" || name === "openEsp32");
	const signature = open && checker.getTypeOfSymbol(open).getCallSignatures()[0];
	if (signature === undefined) {
		throw new Error(`${file} exports no openBoard()`);
	}
	const members = signature
		.getReturnType()
		.getProperties()
		.filter(({ name }) => !NO_PARTS.includes(name));
	const names = (optional: boolean): Part[] =>
		members
			.filter(({ flags }) => ((flags & ts.SymbolFlags.Optional) !== 0) === optional)
			.map(({ name }) => name as Part);
	return { parts: names(false), optional: names(true) };
}
