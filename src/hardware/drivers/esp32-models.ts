/** The names of the chips by ESP-IDF's numbers (esp_chip_model_t). */
export const ESP32_MODELS: Readonly<Record<number, string>> = Object.freeze({
	1: "esp32",
	2: "esp32s2",
	5: "esp32c3",
	9: "esp32s3",
	12: "esp32c2",
	13: "esp32c6",
	16: "esp32h2",
	18: "esp32p4",
	20: "esp32c61",
	23: "esp32c5",
});

/** Reasons of a reset by ESP-IDF's numbers (esp_reset_reason_t). 0 is unknown. */
export const ESP32_RESET_REASONS: readonly string[] = Object.freeze(
	(
		"unknown,power-on,external pin,software,panic,interrupt watchdog,task watchdog,watchdog,deep sleep,brownout,SDIO,USB," +
		"JTAG,eFuse error,power glitch,CPU lockup"
	).split(","),
);

/** The pins of the BOOT button, by the same numbers. */
export const BOOT_PINS: Readonly<Record<number, number>> = Object.freeze({
	1: 0, // ESP32
	2: 0, // ESP32-S2
	5: 9, // ESP32-C3
	9: 0, // ESP32-S3
	13: 9, // ESP32-C6
});
