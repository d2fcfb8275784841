/** A sensor of a simulated board. */
export type BoardSensor = "temperature" | "light" | "motion";

/** The parts of a simulated board. */
export interface BoardProfile {
	/** Name of its folder in src/hardware/boards. */
	readonly name: string;
	/** Its parts, as far as they are simulated, besides those below and those of every virtual device. */
	readonly parts: readonly string[];
	/** Pixels; undefined without a screen. */
	readonly screen?: { readonly width: number; readonly height: number };
	/** Names of its buttons. The first one is the main button; a touch screen is one, too. */
	readonly buttons: readonly string[];
	readonly lights: readonly string[];
	/** Each has the name of its kind. */
	readonly sensors: readonly BoardSensor[];
}

const LANDSCAPE = { width: 320, height: 240 };

const board = (name: string, own: Partial<BoardProfile> = {}): BoardProfile => ({
	name,
	parts: [],
	buttons: [],
	lights: [],
	sensors: [],
	...own,
});

/** A board that has everything. */
export const VIRTUAL_BOARD = board("virtual", {
	parts: ["player", "codec", "snapshot", "preview", "camera", "battery"],
	screen: LANDSCAPE,
	buttons: ["boot", "screen"],
	lights: ["led"],
	sensors: ["temperature", "light", "motion"],
});

/** The boards of src/hardware/boards, as their sources have them: a test compares. */
const PROFILES: readonly BoardProfile[] = [
	VIRTUAL_BOARD,
	board("esp32"),
	board("lilygo_tdisplay_s3", { parts: ["preview"], screen: { width: 170, height: 320 }, buttons: ["right", "left"] }),
	board("m5atom_s3", {
		parts: ["preview"],
		screen: { width: 128, height: 128 },
		buttons: ["screen"],
		sensors: ["motion"],
	}),
	board("m5stack", { screen: LANDSCAPE, buttons: ["a", "b", "c"] }),
	board("m5stack_core2", {
		parts: ["player", "codec", "preview", "battery"],
		screen: LANDSCAPE,
		buttons: ["screen"],
		sensors: ["motion"],
	}),
	board("m5stack_cores3", {
		parts: ["player", "codec", "preview", "camera", "battery"],
		screen: LANDSCAPE,
		buttons: ["screen"],
		sensors: ["motion", "light"],
	}),
	board("m5stick_cplus", {
		parts: ["battery"],
		screen: { width: 135, height: 240 },
		buttons: ["a", "b"],
		lights: ["led"],
		sensors: ["motion"],
	}),
	board("moddable_six", {
		parts: ["player", "preview"],
		screen: { width: 240, height: 320 },
		buttons: ["flash"],
		lights: ["led"],
	}),
	board("xiao_esp32s3_sense", { parts: ["camera"], buttons: ["boot"], lights: ["led"] }),
];

/** The boards that a virtual device can stand for, by name. */
export const BOARD_PROFILES: ReadonlyMap<string, BoardProfile> = new Map(
	PROFILES.map((profile) => [profile.name, profile]),
);

/** A board without any part of its own. */
const BARE_BOARD = "esp32";

/** The profile of a target: a bare chip, unless it is one of the boards of src/hardware/boards. */
export function profileOf(target: string = BARE_BOARD): BoardProfile {
	const name = target.split("/").at(-1) ?? "";
	return BOARD_PROFILES.get(name) ?? (BOARD_PROFILES.get(BARE_BOARD) as BoardProfile);
}
