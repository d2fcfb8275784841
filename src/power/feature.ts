import type { Guard } from "../hardware/guard.js";
import type { Board } from "../hardware/hardware.js";
import type { Runtime } from "../hardware/timer.js";
import { readSetting, type SettingSource } from "../settings/read-setting.js";
import { PowerSaver } from "./power-saver.js";

export interface PowerOptions extends Runtime, Pick<SettingSource, "built"> {
	readonly board: Board;
	/** Whether the chip may sleep at all. */
	readonly maySleep: boolean;
	readonly guard: Guard;
	/** The machine's time, in milliseconds since 1970. Default `Date.now`. */
	readonly now?: (() => number) | undefined;
}

/** Seconds until the screen of a board with a battery is dimmed, and turned off. */
const SCREEN_DIM = 60;
const SCREEN_OFF = 300;

/**
 * Saves power as the settings `screenDim`, `screenOff`, `sleepAfter`, `wakeAfter`, `sleepBelow` and `wifiPowerSave` say.
 *
 * @throws SettingError
 */
export const openPower = ({ board, built, maySleep, guard, now, timer, log }: PowerOptions): PowerSaver => {
	const { battery, power: chip, settings } = board;
	const source = { built, settings };
	const onBattery = (seconds: number): number => (battery === undefined ? 0 : seconds);
	const sleepAfter = readSetting("sleepAfter", source);
	const times = {
		screenDim: readSetting("screenDim", source) ?? onBattery(SCREEN_DIM),
		screenOff: readSetting("screenOff", source) ?? onBattery(SCREEN_OFF),
		sleepAfter: maySleep ? sleepAfter : 0,
		wakeAfter: readSetting("wakeAfter", source),
		sleepBelow: maySleep ? readSetting("sleepBelow", source) : 0,
	};
	const mode = readSetting("wifiPowerSave", source);
	try {
		chip?.saveWiFi(mode);
	} catch (error) {
		log(`Wi-Fi power save "${mode}": ${String(error)}`);
	}
	return new PowerSaver({ ...times, board, chip, guard, now, timer, log });
};

export default openPower;
