/** A sensor of a simulated board. */
export type BoardSensor = "temperature" | "light" | "motion";

/** A part of a project, as its file defines it: the function that made it, and those of its options that pages show. */
export interface OwnPart {
	readonly maker: string;
	readonly options: {
		readonly title?: string;
		readonly kind?: string;
		readonly unit?: string;
		/** Range of an analog input, and the values that it maps to. */
		readonly from?: readonly [number, number];
		readonly to?: readonly [number, number];
		/** Degrees and microseconds of a servo. */
		readonly min?: number;
		readonly max?: number;
		readonly pulse?: readonly [number, number];
		readonly active?: 0 | 1;
		readonly activeLow?: boolean;
		readonly activeHigh?: boolean;
	};
}

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
	/** Parts of a project, by name. */
	readonly own?: Readonly<Record<string, OwnPart>>;
	/** Pins that the board itself uses, by the part at them: the targets of the SDK, and the makers' pin tables. */
	readonly pins?: Readonly<Record<string, readonly number[]>>;
	/** Pins of parts of the board that the firmware does not use, by the part. A project may use them. */
	readonly unusedPins?: Readonly<Record<string, readonly number[]>>;
}

/** Name in {@link BoardProfile.pins} of the bus of the board's own chips, on which there may be others. */
export const BOARD_BUS = "I2C bus";

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
	board("lilygo_tdisplay_s3", {
		parts: ["preview"],
		screen: { width: 170, height: 320 },
		buttons: ["right", "left"],
		pins: {
			screen: [5, 6, 7, 8, 9, 15, 38, 39, 40, 41, 42, 45, 46, 47, 48],
			PSRAM: [33, 34, 35, 36, 37],
			"left button": [0],
			"right button": [14],
		},
		unusedPins: { "touch screen": [16, 17, 18, 21], "battery's voltage": [4] },
	}),
	board("m5atom_s3", {
		parts: ["preview"],
		screen: { width: 128, height: 128 },
		buttons: ["screen"],
		sensors: ["motion"],
		pins: { screen: [15, 16, 17, 21, 33, 34], [BOARD_BUS]: [38, 39], button: [41] },
		unusedPins: { "infrared LED": [4] },
	}),
	board("m5stack", {
		screen: LANDSCAPE,
		buttons: ["a", "b", "c"],
		pins: {
			screen: [14, 18, 19, 23, 27, 32, 33],
			"SD card": [4],
			[BOARD_BUS]: [21, 22],
			buttons: [37, 38, 39],
		},
		unusedPins: { speaker: [25] },
	}),
	board("m5stack_core2", {
		parts: ["player", "codec", "preview", "battery"],
		screen: LANDSCAPE,
		buttons: ["screen"],
		sensors: ["motion"],
		pins: {
			screen: [5, 15, 18, 23, 38],
			"touch screen": [39],
			"SD card": [4],
			[BOARD_BUS]: [21, 22],
			"speaker and microphone": [0, 2, 12, 34],
			PSRAM: [16, 17],
		},
	}),
	board("m5stack_cores3", {
		parts: ["player", "codec", "preview", "camera", "battery"],
		screen: LANDSCAPE,
		buttons: ["screen"],
		sensors: ["motion", "light"],
		// The SDK also gives the camera pin 2, which is a contact of port A.
		pins: {
			screen: [3, 35, 36, 37],
			"SD card": [4],
			[BOARD_BUS]: [11, 12],
			"power chip": [21],
			"speaker and microphones": [0, 13, 14, 33, 34],
			camera: [15, 16, 38, 39, 40, 41, 42, 45, 46, 47, 48],
		},
	}),
	board("m5stick_cplus", {
		parts: ["battery"],
		screen: { width: 135, height: 240 },
		buttons: ["a", "b"],
		lights: ["led"],
		sensors: ["motion"],
		pins: {
			screen: [5, 13, 15, 18, 23],
			[BOARD_BUS]: [21, 22],
			buttons: [37, 39],
			LED: [10],
			clock: [35],
		},
		unusedPins: { "infrared LED": [9], buzzer: [2], microphone: [0, 34] },
	}),
	board("moddable_six", {
		parts: ["player", "preview"],
		screen: { width: 240, height: 320 },
		buttons: ["flash"],
		lights: ["led"],
		pins: {
			screen: [6, 7, 8, 9, 10, 11, 12, 13, 14, 18, 21, 47],
			"touch screen": [38],
			[BOARD_BUS]: [4, 5],
			speaker: [45, 46],
			PSRAM: [33, 34, 35, 36, 37],
			button: [0],
			LED: [48],
		},
		unusedPins: { microphone: [2, 3] },
	}),
	board("xiao_esp32s3_sense", {
		parts: ["camera"],
		buttons: ["boot"],
		lights: ["led"],
		pins: {
			camera: [10, 11, 12, 13, 14, 15, 16, 17, 18, 38, 39, 40, 47, 48],
			PSRAM: [33, 34, 35, 36, 37],
			button: [0],
			LED: [21],
		},
		unusedPins: { microphone: [41, 42] },
	}),
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
