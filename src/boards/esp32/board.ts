import { consolePort } from "../../drivers/console/open-console-port.js";
import { openEsp32 } from "../../drivers/esp32/open-esp32.js";
import type { Board } from "../../hardware/hardware.js";

/** A bare ESP32 of any kind: the chip and its Wi-Fi. A board with more parts has a folder of its own. */
export const openBoard = () => {
	const esp32 = openEsp32("esp32");
	const serial = consolePort();
	return { ...esp32, ...(serial && { serial }), close: () => esp32.network.close() } satisfies Board;
};
