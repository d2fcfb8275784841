import Preference from "preference";
import Timer from "timer";
import { esp32Chip } from "../drivers/esp32-chip.js";
import { chipThermometer, Esp32System } from "../drivers/esp32-system.js";
import type { Board, System } from "../hardware/hardware.js";
import { openWiFi } from "../platform/wifi.js";

/** A bare ESP32 of any kind: the chip and its Wi-Fi. A board with more parts is a file of its own. */
export function openBoard(): Board & { readonly system: System } {
	const network = openWiFi();
	const thermometer = chipThermometer(esp32Chip);
	return {
		name: "esp32",
		network,
		...(thermometer && { thermometer }),
		system: new Esp32System({
			chip: esp32Chip,
			macAddress: network.macAddress,
			board: "esp32",
			restart: () => System.restart(),
			timer: Timer,
		}),
		settings: Preference,
		close: () => network.close(),
	};
}
