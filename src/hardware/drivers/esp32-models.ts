import { deepFreeze } from "../../core/text/deep-freeze.js";

interface Model {
	readonly name: string;
	/** Pin of the BOOT button. */
	readonly boot?: number;
	/** Pins of UART 0, which leads to the USB connector of most boards. */
	readonly uart?: { readonly transmit: number; readonly receive: number };
	/** Whether it has a USB Serial/JTAG controller. */
	readonly hasUsb?: true;
}

/** The chips by ESP-IDF's numbers (esp_chip_model_t). Those without pins do not run the firmware. */
export const ESP32_MODELS: Readonly<Record<number, Model>> = deepFreeze({
	1: { name: "esp32", boot: 0, uart: { transmit: 1, receive: 3 } },
	2: { name: "esp32s2", boot: 0, uart: { transmit: 43, receive: 44 } },
	5: { name: "esp32c3", boot: 9, uart: { transmit: 21, receive: 20 }, hasUsb: true },
	9: { name: "esp32s3", boot: 0, uart: { transmit: 43, receive: 44 }, hasUsb: true },
	12: { name: "esp32c2" },
	13: { name: "esp32c6", boot: 9, uart: { transmit: 16, receive: 17 }, hasUsb: true },
	16: { name: "esp32h2" },
	18: { name: "esp32p4" },
	20: { name: "esp32c61" },
	23: { name: "esp32c5" },
});

/** Reasons of a reset by ESP-IDF's numbers (esp_reset_reason_t). 0 is unknown. */
export const ESP32_RESET_REASONS: readonly string[] = Object.freeze(
	(
		"unknown,power-on,external pin,software,panic,interrupt watchdog,task watchdog,watchdog,deep sleep,brownout,SDIO,USB," +
		"JTAG,eFuse error,power glitch,CPU lockup"
	).split(","),
);
