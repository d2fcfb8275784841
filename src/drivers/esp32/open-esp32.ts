import Time from "time";
import type { Board } from "../../hardware/hardware.js";
import { openChip } from "../chip/open-chip.js";
import type { RtcClock } from "../rtc/rtc-clock.js";
import { openAccessPoint, startRadio } from "../wifi/open-access-point.js";
import { openWiFi } from "../wifi/open-wifi.js";

/**
 * The parts of every ESP32 board with Wi-Fi: Wi-Fi, an access point, and those of `openChip`.
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

/** Closes parts of a board, in this order. Those that were not opened are undefined. */
export function closeAll(...parts: readonly ({ close(): void } | undefined)[]): void {
	for (const part of parts) {
		part?.close();
	}
}
