import type { Board, System } from "../../hardware/hardware.js";
import { openEsp32 } from "../../platform/esp32.js";

/** A bare ESP32 of any kind: the chip and its Wi-Fi. A board with more parts is a file of its own. */
export function openBoard(): Board & { readonly system: System } {
	const esp32 = openEsp32("esp32");
	return { ...esp32, close: () => esp32.network.close() };
}
