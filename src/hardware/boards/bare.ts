import type { BoardData } from "../board-data.js";

/** Pins: Espressif's user guide of the ESP32-DevKitC, whose 30-pin copies (DOIT) have the LED. */
export const esp32_devkit = {
	title: "ESP32 DevKit with ESP-WROOM-32",
	chip: "esp32",
	buttons: { boot: 0 },
	leds: { led: { pin: 2 } },
} satisfies BoardData;

/** Pins: Espressif's data sheet of the ESP32-WROVER-E. */
export const esp32_wrover = {
	title: "ESP32 DevKit with ESP32-WROVER",
	chip: "esp32",
	psram: "4MB quad",
	buttons: { boot: 0 },
} satisfies BoardData;

/** Pins: Espressif's user guide of the ESP32-S3-DevKitC-1, v1.0. */
export const esp32_s3_devkit_n8r2 = {
	title: "ESP32-S3-DevKitC-1 N8R2",
	chip: "esp32s3",
	flash: "8MB",
	psram: "2MB quad",
	buttons: { boot: 0 },
	leds: { led: { neopixel: 48 } },
	note: "Version 1.1 of the ESP32-S3-DevKitC-1 has its LED at pin 38.",
} satisfies BoardData;

/** Pins: Espressif's user guide of the ESP32-S3-DevKitC-1, v1.0. */
export const esp32_s3_devkit_n16r8 = {
	title: "ESP32-S3-DevKitC-1 N16R8",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB octal",
	buttons: { boot: 0 },
	leds: { led: { neopixel: 48 } },
	note: "Version 1.1 of the ESP32-S3-DevKitC-1 has its LED at pin 38.",
} satisfies BoardData;

/** Pins: Espressif's user guide of the ESP32-C3-DevKitM-1. */
export const esp32_c3_devkit = {
	title: "ESP32-C3-DevKitM-1",
	chip: "esp32c3",
	buttons: { boot: 9 },
	leds: { led: { neopixel: 8 } },
} satisfies BoardData;

/** Pins: the vendors' pages of this board, which many make. */
export const esp32_c3_supermini = {
	title: "ESP32-C3 SuperMini",
	chip: "esp32c3",
	buttons: { boot: 9 },
	leds: { led: { pin: 8, activeLow: true } },
} satisfies BoardData;

/** Pins: Espressif's user guide of the ESP32-C6-DevKitC-1. */
export const esp32_c6_devkit = {
	title: "ESP32-C6-DevKitC-1",
	chip: "esp32c6",
	flash: "8MB",
	buttons: { boot: 9 },
	leds: { led: { neopixel: 8 } },
} satisfies BoardData;

/** Pins: the vendors' pages of this board, which many make. */
export const esp32_c6_supermini = {
	title: "ESP32-C6 SuperMini",
	chip: "esp32c6",
	buttons: { boot: 9 },
	leds: { led: { pin: 15 }, color: { neopixel: 8 } },
} satisfies BoardData;

/** Pins: the SDK's target lolin_s2mini. */
export const lolin_s2mini = {
	title: "LOLIN S2 Mini",
	chip: "esp32s2",
	psram: "2MB quad",
	buttons: { boot: 0 },
	leds: { led: { pin: 15 } },
} satisfies BoardData;

/** Pins: Wireless-Tag's data sheet, and ESP-IDF's example of an RMII Ethernet with an external oscillator. */
export const wt32_eth01 = {
	title: "Wireless-Tag WT32-ETH01",
	chip: "esp32",
	ethernet: { phy: "lan8720", address: 1, mdc: 23, mdio: 18, power: 16, clock: { pin: 0 } },
	note: "Its Ethernet is not used: it connects by Wi-Fi.",
} satisfies BoardData;
