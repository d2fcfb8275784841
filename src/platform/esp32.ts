import Time from "time";
import type { RtcClock } from "../drivers/rtc-clock.js";
import type { Board } from "../hardware/hardware.js";
import { openAccessPoint, startRadio } from "./access-point.js";
import { openChip } from "./chip.js";
import { openWiFi } from "./wifi.js";

/**
 * What every board with an ESP32 and Wi-Fi has: Wi-Fi, a network of its own, and what `openChip` opens.
 *
 * @param rtc of a board that has a real-time clock: it is set with the chip's clock
 */
export function openEsp32(name: string, rtc?: RtcClock) {
	startRadio();
	const setTime = (seconds: number): void => (rtc === undefined ? Time.set(seconds) : rtc.set(seconds));
	const network = openWiFi(setTime);
	return {
		...openChip(name, network.macAddress, setTime),
		network,
		accessPoint: openAccessPoint(network),
	} satisfies Omit<Board, "close">;
}
