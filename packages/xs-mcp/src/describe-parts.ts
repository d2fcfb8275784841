import { readdirSync, readFileSync } from "node:fs";
import { PART_KINDS } from "xs-mcp-firmware/hardware/kinds/index";
import * as makers from "xs-mcp-firmware/hardware/parts/index";
import type { Part, PinUse } from "xs-mcp-firmware/hardware/parts/part";
import { profileOf } from "xs-mcp-virtual-device";
import { SENSORS } from "xs-mcp-virtual-device/sensors";
import { type BoardName, chipOfBoard, pinsOf } from "./build/check-board.js";
import { ProgramError } from "./build/program.js";
import { ROOT } from "./root.js";

const FOLDER = `${ROOT}src/hardware/parts/`;

const DOC = String.raw`(?:^\/\*\*(?:(?!\*\/)[^])*\*\/\n)?`;

/** A type with its comment: in one line, or up to the bracket at the start of a line that closes it. */
const TYPES = new RegExp(String.raw`${DOC}^(?:export )?(?:interface|type) (\w+)(?:[^\n]*;|[^]*?^[})][^\n]*)$`, "gm");

/** Types of parts at run time, which their options do not need. */
const INTERNAL = ["Part", "PartIo", "OpenedPart"];

/** A driver's class, or options for parts without a driver: one is unknown, and the error names the known ones. */
const UNKNOWN = Object.assign(class {}, { "?": 1 });

/** A function of the package `xs-mcp` that makes a part. */
interface PartFunction {
	readonly name: string;
	/** Names of its options. */
	readonly options: readonly string[];
	/** Tool by which clients use the part; undefined without one. */
	readonly tool?: string;
}

/** Lists the functions for parts that the package `xs-mcp` exports. */
export function listParts(): PartFunction[] {
	return Object.entries(makers).flatMap(([name, make]) => {
		const part = makePart(make);
		const [, options] = /^unknown option \?, expected (.*)$/.exec(part?.fault ?? "") ?? [];
		const { tool } = PART_KINDS.find((kind) => kind.name === part?.makes) ?? {};
		return options === undefined ? [] : [{ name, options: options.split(", "), ...(tool && { tool: tool.name }) }];
	});
}

/** Returns the part that a function makes; undefined if it makes something else. */
function makePart(make: unknown): Part | undefined {
	try {
		const made = (make as (driver: unknown, options: unknown) => Partial<Part> | undefined)(UNKNOWN, UNKNOWN);
		return made?.makes === undefined ? undefined : (made as Part);
	} catch {
		return undefined;
	}
}

/**
 * Returns the declaration of a function for parts and of its options, with their comments, from the firmware's sources.
 *
 * @throws ProgramError if there is no such function
 */
export function describePart(name: string): string {
	const known = listParts().map((each) => each.name);
	if (!known.includes(name)) {
		throw new ProgramError(`part: no function ${name}; expected ${known.join(", ")}`);
	}
	const files = readdirSync(FOLDER).filter((file) => file.endsWith(".ts"));
	const sources = files.map((file) => readFileSync(`${FOLDER}${file}`, "utf8")).join("\n");
	const [, doc = "", signature = ""] =
		new RegExp(String.raw`(${DOC})^export const ${name} = (\([^]*?\): Part(?:<[^>]*>)?) =>`, "m").exec(sources) ?? [];
	const types = new Map([...sources.matchAll(TYPES)].map(([text, type = ""]) => [type, text]));
	const declared = new Map([[name, `${doc}${name}${signature}`]]);
	// The iteration also visits entries that are added meanwhile.
	for (const text of declared.values()) {
		for (const [word] of text.matchAll(/\b[A-Z]\w+/g)) {
			const found = INTERNAL.includes(word) ? undefined : types.get(word);
			if (found !== undefined) {
				declared.set(word, found);
			}
		}
	}
	if (name === "sensor") {
		const drivers = Object.keys(SENSORS).map((path) => `embedded:sensor/${path}`);
		declared.set("drivers", `/** Modules of drivers, whose default export is the class. */\n${drivers.join("\n")}`);
	}
	return [...declared.values()].join("\n\n");
}

/** Uses of a pin that a board's description tells apart. */
const USES = ["output", "input", "analog"] as const satisfies readonly PinUse[];

/**
 * Describes a board for the choice of pins. `free` has pins without a side effect, by use. `avoid` has the side effects of
 * other pins.
 *
 * @param board mcconfig's name: "esp32/lolin_s3". Default: a bare ESP32
 */
export function describeBoard(board: BoardName = "esp32", parts: Readonly<Record<string, Part>> = {}): object {
	const used = Object.fromEntries(Object.entries(parts).map(([name, { pins }]) => [name, pins.map(({ pin }) => pin)]));
	const taken = Object.values(used).flat();
	const warnings = new Set<string>();
	const { pins: all = [], errorOf, warningOf } = pinsOf(board);
	const isFree = (pin: number, use: PinUse): boolean => {
		const isUsable = errorOf({ pin, use }) === undefined;
		const warning = isUsable ? warningOf(pin) : undefined;
		if (warning !== undefined) {
			warnings.add(`pin ${pin} ${warning}`);
		}
		return isUsable && warning === undefined;
	};
	const pins = all.filter((pin) => !taken.includes(pin));
	const free = USES.map((use) => [use, pins.filter((pin) => isFree(pin, use))]);
	const { buttons, lights, sensors } = profileOf(board);
	return {
		board,
		chip: chipOfBoard(board),
		buttons,
		lights,
		sensors,
		used,
		free: Object.fromEntries(free),
		avoid: [...warnings],
	};
}
