import Preference from "preference";
import Time from "time";
import Timer from "timer";
import { chipThermometer, Esp32System } from "../drivers/esp32-system.js";
import type { Board, System } from "../hardware/hardware.js";
import { esp32Chip } from "./esp32-chip.js";

/**
 * What every board with an ESP32 has besides its network: system, settings, clock, and the chip's thermometer where it
 * has one.
 *
 * @param name the board's
 * @param macAddress the network's
 */
export function openChip(name: string, macAddress: string): Omit<Board, "close"> & { readonly system: System } {
	const thermometer = chipThermometer(esp32Chip);
	return {
		name,
		...(thermometer && { thermometer }),
		system: new Esp32System({
			chip: esp32Chip,
			macAddress,
			board: name,
			restart: () => System.restart(),
			timer: Timer,
		}),
		settings: Preference,
		clock: {
			set(time, timezone) {
				Time.set(Math.round(time / 1000));
				Time.timezone = timezone * 60;
			},
		},
	};
}
