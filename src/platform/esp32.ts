import Preference from "preference";
import Time from "time";
import Timer from "timer";
import { chipThermometer, Esp32System } from "../drivers/esp32-system.js";
import type { RtcClock } from "../drivers/rtc-clock.js";
import type { Board } from "../hardware/hardware.js";
import { openAccessPoint, startRadio } from "./access-point.js";
import { esp32Chip } from "./esp32-chip.js";
import { openUpdater } from "./updater.js";
import { openWiFi } from "./wifi.js";

/**
 * What every board with an ESP32 has: Wi-Fi, a network of its own, system, settings, and the chip's thermometer if it has
 * one.
 *
 * @param rtc of a board that has a real-time clock: it is set with the chip's clock
 */
export function openEsp32(name: string, rtc?: RtcClock) {
	startRadio();
	const setTime = (seconds: number): void => (rtc === undefined ? Time.set(seconds) : rtc.set(seconds));
	startRadio();
	const network = openWiFi(setTime);
	const thermometer = chipThermometer(esp32Chip);
	const { macAddress } = network;
	return {
		name,
		network,
		accessPoint: openAccessPoint(network),
		...(thermometer && { thermometer }),
		updater: openUpdater(),
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
				setTime(Math.round(time / 1000));
				Time.timezone = timezone * 60;
			},
		},
	} satisfies Omit<Board, "close">;
}
