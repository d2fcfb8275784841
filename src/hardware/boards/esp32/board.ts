import { deepFreeze } from "../../../core/text/deep-freeze.js";
import type { DigitalButton } from "../../drivers/button/button-digital.js";
import { openButton } from "../../drivers/button/open-button.js";
import { esp32Chip } from "../../drivers/chip/esp32-chip.js";
import { consolePort } from "../../drivers/console/open-console-port.js";
import { closeAll, openEsp32 } from "../../drivers/esp32/open-esp32.js";
import type { Board } from "../../hardware.js";

/** The pin of the BOOT button, by ESP-IDF's number of the chip. */
const BOOT_PINS: Readonly<Record<number, number>> = deepFreeze({
	1: 0, // ESP32
	2: 0, // ESP32-S2
	5: 9, // ESP32-C3
	9: 0, // ESP32-S3
	13: 9, // ESP32-C6
});

/** A bare ESP32 of any kind: the chip, its Wi-Fi and its BOOT button. A board with more parts has a folder of its own. */
export const openBoard = () => {
	const esp32 = openEsp32("esp32");
	const serial = consolePort();
	const pin = BOOT_PINS[esp32Chip.model];
	let boot: DigitalButton | undefined;
	return {
		...esp32,
		serials: [...(serial ? [serial] : []), ...esp32.serials],
		...(pin !== undefined && {
			bootButton: () => {
				boot ??= openButton({ pin });
				return boot;
			},
		}),
		close: () => closeAll(boot, esp32.network),
	} satisfies Board;
};
