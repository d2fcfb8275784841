import { join } from "node:path";
import ts from "typescript";
import type { Hardware } from "../../../../src/hardware/hardware.js";
import { isOffered, type Part } from "../../../../src/hardware/needs.js";
import { ROOT } from "../../../root.js";
import { loadTools } from "./load-tools.js";

const TOOLS = await loadTools();

/** The parts that the application adds on every board. */
const OF_EVERY_BOARD: readonly Part[] = ["device", "http", "log"];

/** Members of a board that are not parts. */
const NO_PARTS: readonly string[] = ["name", "close", "serials", "bootButton", "power"];

/** The parts of a board, as the type of its openBoard() has them, in its order. */
export interface BoardParts {
	readonly parts: readonly Part[];
	/** Optional parts: not every chip has a thermometer, and a sensor may not answer. */
	readonly optional: readonly Part[];
}

/**
 * Reads the parts of boards from their sources with the compiler, which takes seconds.
 *
 * @param boards folders in src/hardware/boards
 * @throws Error that names a board without openBoard()
 */
export function readParts(boards: readonly string[]): Map<string, BoardParts> {
	const { config } = ts.readConfigFile(join(ROOT, "src/tsconfig.json"), ts.sys.readFile);
	const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT, { noEmit: true });
	const fileOf = (board: string): string => join(ROOT, "src", "hardware", "boards", board, "board.ts");
	const declarations = fileNames.filter((name) => name.endsWith(".d.ts"));
	const program = ts.createProgram([...declarations, ...boards.map(fileOf)], options);
	return new Map(boards.map((board) => [board, partsIn(program, fileOf(board))]));
}

function partsIn(program: ts.Program, file: string): BoardParts {
	const checker = program.getTypeChecker();
	const source = program.getSourceFile(file);
	const module = source && checker.getSymbolAtLocation(source);
	const open = module && checker.getExportsOfModule(module).find(({ name }) => name === "openBoard");
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

/** The names of the tools that a board with these parts offers. */
export function toolsOf(parts: readonly Part[]): string[] {
	const made: Part[] = parts.includes("updater") ? ["installer"] : [];
	if (parts.includes("accessPoint")) {
		made.push("wifiSetup");
	}
	const hardware: Hardware = Object.fromEntries([...OF_EVERY_BOARD, ...made, ...parts].map((part) => [part, {}]));
	return TOOLS.filter((tool) => isOffered(tool, hardware)).map(({ name }) => name);
}
