import { InvalidArgumentError } from "commander";
import { isFullDuplex, PRESETS, partsOfData, withBase } from "xs-mcp/build/board-manifest";
import { nearest } from "xs-mcp/build/suggest";
import type { BoardData, VirtualBoardProfile } from "xs-mcp-firmware/hardware/board-data";
import type {
	AnalogOptions,
	ButtonOptions,
	ContactOptions,
	RelayOptions,
	ServoOptions,
} from "xs-mcp-firmware/hardware/parts/index";

/** A part as the project defines it: the function that made it, and its options. Pages show some of them. */
export interface OwnPart {
	readonly maker: string;
	readonly options: Partial<AnalogOptions & ButtonOptions & ContactOptions & RelayOptions & ServoOptions>;
}

/** The parts of a simulated board. */
export interface BoardProfile extends VirtualBoardProfile {
	/** Parts of a project, by name. */
	readonly own?: Readonly<Record<string, OwnPart>>;
}

/** A board that has everything. */
export const VIRTUAL_BOARD: BoardProfile = {
	name: "virtual",
	parts: ["player", "codec", "snapshot", "preview", "camera", "battery"],
	isFullDuplex: true,
	screen: { width: 320, height: 240 },
	buttons: ["boot", "screen"],
	lights: ["led"],
	sensors: ["temperature", "light", "motion"],
};

/** Parts that a virtual device opens by other members of its profile. */
const BY_MEMBER = ["speaker", "screen", "buttons", "lights", "sensors", "servos", "head"];

/** Makes the profile of a board that is data. */
export function profileOfData(name: string, data: BoardData): BoardProfile {
	const { display, touch, buttons = {}, leds = {}, motion, light, head } = data;
	const { width = 0, height = 0, rotation = 0 } = display ?? {};
	const isTurned = rotation % 180 !== 0;
	return {
		name,
		parts: partsOfData(data).filter((part) => !BY_MEMBER.includes(part)),
		isFullDuplex: isFullDuplex(data),
		...(display && { screen: isTurned ? { width: height, height: width } : { width, height } }),
		buttons: [
			...Object.keys(buttons),
			...(touch === undefined ? [] : ["screen"]),
			...(head?.touch === undefined ? [] : ["head"]),
		],
		lights: Object.keys(leds),
		sensors: [...(motion === undefined ? [] : (["motion"] as const)), ...(light ? (["light"] as const) : [])],
		...(head && { head }),
	};
}

/** The boards that a virtual device can stand for, by name. */
export const BOARD_PROFILES: ReadonlyMap<string, BoardProfile> = new Map([
	["virtual", VIRTUAL_BOARD],
	...[...PRESETS].map(([name, data]) => [name, profileOfData(name, data)] as const),
]);

/** Removes "esp32/" from a board's name: profiles are known without it. */
export const profileNameOf = (board: string): string => board.replace(/^esp32\//, "");

/** Reads the name of a known board, with or without "esp32/". @throws InvalidArgumentError that suggests a similar one */
export function readBoard(text: string, known: readonly string[]): string {
	const name = profileNameOf(text);
	if (!known.includes(name)) {
		const similar = nearest(name, known);
		throw new InvalidArgumentError(similar ? `Did you mean ${similar}?` : "Unknown board: --help lists the boards.");
	}
	return name;
}

/** A board without parts. */
const BARE_BOARD = "esp32";

/** The profile of a target, or of a board as data: a bare chip, unless it is one of the boards of src/hardware/boards. */
export function profileOf(board: string | BoardData = BARE_BOARD): BoardProfile {
	if (typeof board === "object") {
		return profileOfData("board", withBase(board));
	}
	return BOARD_PROFILES.get(board.split("/").at(-1) ?? "") ?? (BOARD_PROFILES.get(BARE_BOARD) as BoardProfile);
}
