import type { BoardData } from "../board-data.js";

/** The camera of the ESP32-S3-EYE, at the same pins on many boards. */
const S3_EYE_CAMERA = {
	data: [11, 9, 8, 10, 12, 18, 17, 16],
	main: 15,
	pixel: 13,
	line: 7,
	frame: 6,
	sda: 4,
	scl: 5,
} as const;

/** Pins: Espressif's user guide of the ESP32-S3-BOX-3, and its board support package. The screen's reset is high: pin 48 ends it. */
export const esp32_s3_box_3 = {
	title: "Espressif ESP32-S3-BOX-3",
	chip: "esp32s3",
	flash: "16MB",
	psram: "16MB octal",
	i2c: { data: 8, clock: 18 },
	outputs: { 48: 0 },
	display: {
		driver: "ili9341",
		width: 320,
		height: 240,
		mirror: "xy",
		spi: { data: 6, clock: 7 },
		select: 5,
		dc: 4,
		backlight: 47,
	},
	touch: { driver: "gt911", interrupt: 3 },
	speaker: { codec: "es8311", i2s: { clock: 17, word: 45, data: 15, main: 2 }, enable: 46 },
	microphone: { codec: "es7210", i2s: { clock: 17, word: 45, data: 16, main: 2 } },
	buttons: { boot: 0 },
	unusedPins: { "mute button": [1] },
} satisfies BoardData;

/** Pins: Espressif's user guide of the ESP32-S3-EYE. */
export const esp32_s3_eye = {
	title: "Espressif ESP32-S3-EYE",
	chip: "esp32s3",
	flash: "8MB",
	psram: "8MB octal",
	display: {
		driver: "st7789",
		width: 240,
		height: 240,
		spi: { data: 47, clock: 21 },
		select: 44,
		dc: 43,
		backlight: { pin: 48, activeLow: true },
	},
	camera: { width: 640, height: 480, pins: S3_EYE_CAMERA },
	buttons: { boot: 0 },
	leds: { led: { pin: 3 } },
	unusedPins: { buttons: [1], microphone: [2, 41, 42], "SD card": [38, 39, 40] },
	note: "No microphone: speech needs a speaker.",
} satisfies BoardData;

/** Pins: Freenove's repository of the FNK0085. */
export const freenove_esp32s3_cam = {
	title: "Freenove ESP32-S3-WROOM CAM",
	chip: "esp32s3",
	flash: "8MB",
	psram: "8MB octal",
	camera: { width: 640, height: 480, pins: S3_EYE_CAMERA },
	buttons: { boot: 0 },
	leds: { led: { pin: 2 }, color: { neopixel: 48 } },
	unusedPins: { "SD card": [38, 39, 40] },
} satisfies BoardData;

/** Pins: xiaozhi-esp32's freenove-esp32s3-display-2.8-lcd. */
export const freenove_esp32s3_display_2_8 = {
	title: "Freenove ESP32-S3 Display 2.8",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB octal",
	i2c: { data: 16, clock: 15 },
	display: {
		driver: "ili9341",
		width: 320,
		height: 240,
		swap: true,
		invert: true,
		spi: { data: 11, clock: 12, hz: 20_000_000 },
		select: 10,
		dc: 46,
		backlight: 45,
	},
	touch: { driver: "ft6x06" },
	speaker: { codec: "es8311", i2s: { clock: 5, word: 7, data: 8, main: 4 }, enable: 1 },
	microphone: { codec: "es8311", i2s: { clock: 5, word: 7, data: 6, main: 4 } },
	buttons: { boot: 0 },
	leds: { color: { neopixel: 42 } },
	unusedPins: { "battery's voltage": [9] },
} satisfies BoardData;

/** Pins: AI-Thinker's data sheet. The button of its base is at pin 0, which clocks the camera. */
export const esp32_cam = {
	title: "AI-Thinker ESP32-CAM",
	chip: "esp32",
	psram: "4MB quad",
	camera: {
		width: 640,
		height: 480,
		pins: {
			data: [5, 18, 19, 21, 36, 39, 34, 35],
			main: 0,
			pixel: 22,
			line: 23,
			frame: 25,
			sda: 26,
			scl: 27,
			powerDown: 32,
		},
	},
	leds: { flash: { pin: 4 }, led: { pin: 33, activeLow: true } },
	unusedPins: { "SD card": [2, 12, 13, 14, 15] },
} satisfies BoardData;

/** Pins: the table of the repository ESP32-Cheap-Yellow-Display. */
export const esp32_2432s028 = {
	title: "ESP32-2432S028, the Cheap Yellow Display",
	chip: "esp32",
	display: {
		driver: "ili9341",
		width: 240,
		height: 320,
		spi: { data: 13, clock: 14 },
		select: 15,
		dc: 2,
		backlight: 21,
	},
	buttons: { boot: 0 },
	leds: { red: { pin: 4, activeLow: true }, green: { pin: 16, activeLow: true }, blue: { pin: 17, activeLow: true } },
	unusedPins: { "touch screen": [25, 32, 33, 36, 39], speaker: [26], "light sensor": [34], "SD card": [5, 18, 19, 23] },
	note: "The firmware has no driver for its resistive touch screen (XPT2046) and its DAC speaker; some have an ST7789.",
} satisfies BoardData;

/** Pins: xiaozhi-esp32's bread-compact-wifi-lcd: an ESP32-S3 N16R8, an ST7789, a MAX98357 and an INMP441. */
export const bread_compact_wifi_lcd = {
	title: "Breadboard with ST7789, MAX98357 and INMP441",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB octal",
	display: {
		driver: "st7789",
		width: 240,
		height: 240,
		spi: { data: 47, clock: 21, mode: 3 },
		select: 41,
		dc: 40,
		reset: 45,
		backlight: 42,
	},
	speaker: { i2s: { clock: 15, word: 16, data: 7 } },
	microphone: { i2s: { clock: 5, word: 4, data: 6 }, gain: 16 },
	buttons: { boot: 0 },
	leds: { led: { neopixel: 48 }, lamp: { pin: 18 } },
} satisfies BoardData;

/** Pins: xiaozhi-esp32's bread-compact-wifi-s3cam. The screen is on the pins of the USB port. */
export const bread_compact_wifi_s3cam = {
	title: "Breadboard with camera, ST7789, MAX98357 and INMP441",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB octal",
	display: {
		driver: "st7789",
		width: 240,
		height: 240,
		spi: { data: 20, clock: 19, mode: 3 },
		select: 45,
		dc: 47,
		reset: 21,
		backlight: 38,
	},
	camera: { width: 640, height: 480, pins: S3_EYE_CAMERA },
	speaker: { i2s: { clock: 40, word: 41, data: 39 } },
	microphone: { i2s: { clock: 2, word: 1, data: 42 }, gain: 16 },
	buttons: { boot: 0 },
	leds: { led: { neopixel: 48 }, lamp: { pin: 14 } },
} satisfies BoardData;

/** Pins: xiaozhi-esp32's sp-esp32-s3-1.28-box. */
export const spotpear_s3_1_28_box = {
	title: "Spotpear ESP32-S3 1.28 box",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB octal",
	i2c: { data: 15, clock: 14 },
	display: {
		driver: "gc9a01",
		width: 240,
		height: 240,
		spi: { data: 2, clock: 4 },
		select: 5,
		dc: 47,
		reset: 38,
		backlight: { pin: 42, activeLow: true },
	},
	touch: { driver: "cst816s", interrupt: 12, reset: 6, i2c: { data: 11, clock: 7 } },
	speaker: { codec: "es8311", i2s: { clock: 9, word: 45, data: 8, main: 16 }, enable: 46 },
	microphone: { codec: "es8311", i2s: { clock: 9, word: 45, data: 10, main: 16 } },
	buttons: { boot: 0 },
	leds: { led: { neopixel: 48 } },
	unusedPins: { "battery's voltage": [1], "battery's charger": [41] },
} satisfies BoardData;

/** Pins: xiaozhi-esp32's moji-esp32s3. */
export const movecall_moji_s3 = {
	title: "Movecall Moji",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB octal",
	i2c: { data: 5, clock: 4 },
	display: {
		driver: "gc9a01",
		width: 240,
		height: 240,
		spi: { data: 17, clock: 16 },
		select: 15,
		dc: 7,
		reset: 18,
		backlight: 3,
	},
	speaker: { codec: "es8311", i2s: { clock: 14, word: 12, data: 11, main: 6 }, enable: 9 },
	microphone: { codec: "es8311", i2s: { clock: 14, word: 12, data: 13, main: 6 } },
	buttons: { boot: 0 },
	leds: { led: { neopixel: 21 } },
} satisfies BoardData;

/** Pins: xiaozhi-esp32's xingzhi-cube-1.54tft-wifi. Pin 21 keeps the battery on. */
export const xingzhi_cube_1_54 = {
	title: "nologo Xingzhi Cube 1.54",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB octal",
	outputs: { 21: 1 },
	display: {
		driver: "st7789",
		width: 240,
		height: 240,
		spi: { data: 10, clock: 9, mode: 3 },
		select: 14,
		dc: 8,
		reset: 18,
		backlight: 13,
	},
	speaker: { i2s: { clock: 15, word: 16, data: 7 } },
	microphone: { i2s: { clock: 5, word: 4, data: 6 }, gain: 16 },
	buttons: { boot: 0, up: 40, down: 39 },
	unusedPins: { "battery's charger": [38] },
} satisfies BoardData;

/** Pins: xiaozhi-esp32's szpi-esp32s3. The expander selects the screen, powers the amplifier and keeps the camera off. */
export const szpi_esp32s3 = {
	title: "LCKFB SZPI ESP32-S3",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB octal",
	i2c: { data: 1, clock: 2 },
	expander: { driver: "pca9557", address: 0x19, outputs: { 0: 0, 1: 1, 2: 1 } },
	display: {
		driver: "st7789",
		width: 320,
		height: 240,
		mirror: "x",
		swap: true,
		spi: { data: 40, clock: 41, mode: 2 },
		dc: 39,
		backlight: { pin: 42, activeLow: true },
	},
	touch: { driver: "ft6x06" },
	speaker: { codec: "es8311", i2s: { clock: 14, word: 13, data: 45, main: 38 } },
	microphone: { codec: "es7210", address: 0x41, i2s: { clock: 14, word: 13, data: 12, main: 38 } },
	buttons: { boot: 0 },
	leds: { led: { pin: 48 } },
	unusedPins: { camera: [3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 18, 46] },
} satisfies BoardData;
