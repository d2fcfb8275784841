import { SETTINGS } from "../../src/settings/settings-table.js";
import { BOARD_PROFILES } from "../../virtual-device/src/boards.js";

/** Chips without a board: the plain ESP32, and those that mcconfig names after it. */
const CHIPS = ["esp32", "esp32s3", "esp32c3", "esp32c6"];

/** The boards of the question, the default first. */
export const BOARDS: readonly string[] = [
	...CHIPS,
	...[...BOARD_PROFILES.keys()].filter((name) => name !== "virtual" && !CHIPS.includes(name)),
];

/** The languages of the firmware's own words, the default first. */
export const LANGUAGES: readonly string[] = SETTINGS.language.choices.map(String);

/** A pin that the board's chip has for anything: how an ESP32-C6 starts depends on its pin 4. */
export function freePinOf(board: string): number {
	return board === "esp32c6" ? 6 : 4;
}

/** mcconfig's name of a board. */
export function targetOf(board: string): string {
	return board === "esp32" ? board : `esp32/${board}`;
}
