import type { BoardData } from "../board-data.js";

/** Charger at 4.1 V and 200 mA; DC1 and ALDO1 at 3.3 V, no other supply. */
const AXP2101_ONE_SUPPLY = [
	[0x22, 0x06],
	[0x27, 0x10],
	[0x80, 0x01],
	[0x90, 0x00],
	[0x91, 0x00],
	[0x82, 18],
	[0x92, 28],
	[0x90, 0x01],
	[0x64, 0x02],
	[0x61, 0x02],
	[0x62, 0x08],
	[0x63, 0x01],
] as const;

/** Pins: the SDK's target ws_esp32s3_touch_1_69, and Waveshare's wiki. */
export const ws_esp32s3_touch_1_69 = {
	title: "Waveshare ESP32-S3-Touch-LCD-1.69",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB octal",
	i2c: { data: 11, clock: 10 },
	display: {
		driver: "st7789",
		width: 240,
		height: 280,
		offset: [0, 20],
		spi: { data: 7, clock: 6 },
		select: 5,
		dc: 4,
		reset: 8,
		backlight: 15,
	},
	touch: { driver: "cst816s", interrupt: 14, reset: 13 },
	buttons: { boot: 0 },
	motion: { driver: "qmi8658" },
	rtc: "pcf85063",
	unusedPins: { "battery's voltage": [1], "power key": [40, 41], buzzer: [42] },
	note: "On a battery it stays on only while its power key is held.",
} satisfies BoardData;

/** Pins: Waveshare's wiki, and xiaozhi-esp32's esp32-s3-touch-lcd-1.54. Pin 2 keeps the battery on. */
export const ws_esp32s3_touch_1_54 = {
	title: "Waveshare ESP32-S3-Touch-LCD-1.54",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB octal",
	i2c: { data: 42, clock: 41 },
	outputs: { 2: 1 },
	display: {
		driver: "st7789",
		width: 240,
		height: 240,
		spi: { data: 39, clock: 38, mode: 3 },
		select: 21,
		dc: 45,
		reset: 40,
		backlight: 46,
	},
	touch: { driver: "cst816s", interrupt: 48, reset: 47 },
	speaker: { codec: "es8311", i2s: { clock: 9, word: 10, data: 12, main: 8 }, enable: 7 },
	microphone: { codec: "es7210", i2s: { clock: 9, word: 10, data: 11, main: 8 } },
	buttons: { boot: 0, plus: 4, power: 5 },
	unusedPins: { "battery's voltage": [1], "battery's charger": [3] },
} satisfies BoardData;

/** Pins: Waveshare's wiki, and xiaozhi-esp32's esp32-s3-touch-lcd-1.83. */
export const ws_esp32s3_touch_1_83 = {
	title: "Waveshare ESP32-S3-Touch-LCD-1.83",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB octal",
	i2c: { data: 15, clock: 14 },
	power: { driver: "axp2101", registers: AXP2101_ONE_SUPPLY },
	display: {
		driver: "st7789",
		width: 240,
		height: 284,
		spi: { data: 7, clock: 6, mode: 3 },
		select: 5,
		dc: 4,
		reset: 38,
		backlight: 40,
	},
	touch: { driver: "cst816s", interrupt: 13, reset: 39 },
	speaker: { codec: "es8311", i2s: { clock: 9, word: 45, data: 8, main: 16 }, enable: 46 },
	microphone: { codec: "es7210", i2s: { clock: 9, word: 45, data: 10, main: 16 } },
	buttons: { boot: 0, power: 41 },
} satisfies BoardData;

/** Pins: the SDK's target waveshare_amoled_206, and xiaozhi-esp32's esp32-s3-touch-amoled-2.06. */
export const waveshare_amoled_206 = {
	title: "Waveshare ESP32-S3-Touch-AMOLED-2.06",
	extends: "waveshare_amoled_206",
	flash: "16MB",
	psram: "8MB octal",
	display: { width: 410, height: 502 },
	touch: true,
	speaker: true,
	microphone: { channels: 1 },
	buttons: { boot: 0 },
	motion: true,
	rtc: true,
	pins: {
		screen: [4, 5, 6, 7, 8, 11, 12],
		"touch screen": [9, 38],
		"I2C bus": [14, 15],
		"speaker and microphone": [16, 40, 41, 42, 45, 46],
	},
} satisfies BoardData;

/** Pins: Waveshare's wiki, and xiaozhi-esp32's esp32-c6-lcd-1.69. Pin 15 keeps the battery on. */
export const ws_esp32c6_lcd_1_69 = {
	title: "Waveshare ESP32-C6-LCD-1.69",
	chip: "esp32c6",
	flash: "8MB",
	i2c: { data: 8, clock: 7 },
	outputs: { 15: 1 },
	display: {
		driver: "st7789",
		width: 240,
		height: 280,
		offset: [0, 20],
		spi: { data: 2, clock: 1, mode: 3 },
		select: 5,
		dc: 3,
		reset: 4,
		backlight: 6,
	},
	speaker: { codec: "es8311", i2s: { clock: 20, word: 22, data: 23, main: 19 } },
	buttons: { boot: 9, power: 18 },
	unusedPins: { "battery's voltage": [0], microphone: [21] },
	note: "No microphone: speech needs PSRAM.",
} satisfies BoardData;
