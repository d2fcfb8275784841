import type { Board } from "../../hardware/hardware.js";
import { openEsp32 } from "../../platform/esp32.js";

/** Seeed Studio XIAO ESP32S3 Sense: ESP32-S3 with PSRAM. Camera and microphone are not used. */
export function openBoard() {
	const esp32 = openEsp32("xiao_esp32s3_sense");
	return { ...esp32, close: () => esp32.network.close() } satisfies Board;
}
