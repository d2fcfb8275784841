import Time from "time";
import Timer from "timer";
import { inBuild } from "../../platform/in-build.js";
import type { OpeningBoard } from "../board-data.js";
import type { Board, ChipPower } from "../hardware.js";
import { esp32Chip } from "./esp32-chip.js";
import { esp32System } from "./esp32-system.js";
import type openUpdater from "./open-updater.js";

/**
 * The parts of every ESP32 board, except its network: system, settings, clock, updates and power saving if the build has them, and the
 * chip's thermometer if it has one.
 *
 * @param name the board's
 * @param macAddress the network's
 */
export const openChip = (name: string, macAddress: string, { source, setTime }: OpeningBoard) => {
	const updater = inBuild<typeof openUpdater>("src/hardware/drivers/open-updater")?.();
	const power = inBuild<ChipPower>("src/platform/esp32-power");
	return {
		name,
		...(esp32Chip.temperature !== undefined && { thermometer: esp32Chip }),
		...(updater && { updater }),
		...(power && { power }),
		system: esp32System(esp32Chip, macAddress, name, Timer),
		settings: source.settings,
		clock: {
			set(time, timezone) {
				setTime(Math.round(time / 1000));
				Time.timezone = timezone * 60;
			},
		},
	} satisfies Board;
};
