import type { BoardData } from "../board-data.js";

// Targets of the SDK that mcconfig alone builds: src/build/boards.json is made of them.

/** A bare chip of any kind: its Wi-Fi and its BOOT button. */
export const esp32 = { title: "ESP32, a bare chip of any kind", chip: "esp32" } satisfies BoardData;

/** Pins: the SDK's target, and https://github.com/Xinyuan-LilyGO/T-Display-S3. */
export const lilygo_tdisplay_s3 = {
	title: "LILYGO T-Display-S3",
	extends: "lilygo_tdisplay_s3",
	flash: "16MB",
	psram: "8MB octal",
	display: { width: 170, height: 320, backlight: true },
	buttons: { right: 14, left: 0 },
	pins: { screen: [5, 6, 7, 8, 9, 15, 38, 39, 40, 41, 42, 45, 46, 47, 48] },
	unusedPins: { "touch screen": [16, 17, 18, 21], "battery's voltage": [4] },
	note: 'The screen is upright; `"rotation": 90` in the `config` of `manifest_local.json` turns it.',
} satisfies BoardData;

/** Pins: the SDK's target, and https://docs.m5stack.com/en/core/AtomS3. Its colours show the brightness. */
export const m5atom_s3 = {
	title: "M5Stack AtomS3",
	extends: "m5atom_s3",
	flash: "8MB",
	display: { width: 128, height: 128 },
	buttons: { screen: 41 },
	motion: { unit: "g" },
	pins: { screen: [15, 16, 17, 21, 33, 34], "I2C bus": [38, 39] },
	unusedPins: { "infrared LED": [4] },
} satisfies BoardData;

/** Pins: the SDK's target, and https://docs.m5stack.com/en/core/basic. The backlight is on or off: its colours show the brightness. */
export const m5stack = {
	title: "M5Stack Core, also Basic and Gray",
	extends: "m5stack",
	display: { width: 320, height: 240 },
	buttons: { a: 39, b: 38, c: 37 },
	pins: { screen: [14, 18, 19, 23, 27, 32, 33], "SD card": [4], "I2C bus": [21, 22] },
	unusedPins: { speaker: [25] },
	note: "No speaker, because the SDK's audio out does not play on the chip's DAC.",
} satisfies BoardData;

/** Pins: the SDK's target, and https://docs.m5stack.com/en/core/core2. */
export const m5stack_core2 = {
	title: "M5Stack Core2",
	extends: "m5stack_core2",
	flash: "16MB",
	psram: "8MB quad",
	display: { width: 320, height: 240 },
	touch: { driver: "ft6x06", interrupt: 39 },
	speaker: true,
	microphone: true,
	power: true,
	motion: { unit: "g" },
	rtc: true,
	pins: { screen: [5, 15, 18, 23, 38], "SD card": [4], "I2C bus": [21, 22], "speaker and microphone": [0, 2, 12, 34] },
	note: "Before version 1.1, the battery's level is estimated from its voltage.",
} satisfies BoardData;

/** Pins: the SDK's target, and https://docs.m5stack.com/en/core/m5stickc_plus. */
export const m5stick_cplus = {
	title: "M5StickC Plus",
	extends: "m5stick_cplus",
	display: { width: 240, height: 135, rotation: 270 },
	buttons: { a: 37, b: 39 },
	leds: { led: { pin: 10, activeLow: true } },
	power: true,
	motion: { unit: "g" },
	rtc: true,
	pins: { screen: [5, 13, 15, 18, 23], "I2C bus": [21, 22], clock: [35] },
	unusedPins: { "infrared LED": [9], buzzer: [2], microphone: [0, 34] },
	note: "The battery's level is estimated from its voltage.",
} satisfies BoardData;

/** Pins: the SDK's target. */
export const moddable_six = {
	title: "Moddable Six",
	extends: "moddable_six",
	flash: "8MB",
	psram: "8MB octal",
	display: { width: 240, height: 320, backlight: true },
	speaker: true,
	buttons: { flash: 0 },
	leds: { led: { neopixel: 48 } },
	pins: {
		screen: [6, 7, 8, 9, 10, 11, 12, 13, 14, 18, 21, 47],
		"touch screen": [38],
		"I2C bus": [4, 5],
		speaker: [45, 46],
	},
	unusedPins: { microphone: [2, 3] },
} satisfies BoardData;

/** Pins: the SDK's target, and https://wiki.seeedstudio.com/xiao_esp32s3_getting_started. */
export const xiao_esp32s3_sense = {
	title: "Seeed Studio XIAO ESP32S3 Sense",
	extends: "xiao_esp32s3_sense",
	flash: "8MB",
	psram: "8MB octal",
	camera: { width: 640, height: 480 },
	buttons: { boot: 0 },
	leds: { led: { pin: 21, activeLow: true } },
	pins: { camera: [10, 11, 12, 13, 14, 15, 16, 17, 18, 38, 39, 40, 47, 48] },
	unusedPins: { microphone: [41, 42] },
} satisfies BoardData;

/** Pins: the SDK's target, and https://docs.m5stack.com/en/core/CoreS3. Its own code opens its parts: m5stack_cores3/board.ts. */
export const m5stack_cores3 = {
	title: "M5Stack CoreS3",
	extends: "m5stack_cores3",
	flash: "16MB",
	psram: "8MB quad",
	display: { width: 320, height: 240 },
	touch: true,
	speaker: true,
	microphone: true,
	camera: { width: 320, height: 240 },
	power: true,
	motion: true,
	rtc: true,
	light: true,
	// The SDK also gives the camera pin 2, which is a contact of port A.
	pins: {
		screen: [3, 35, 36, 37],
		"SD card": [4],
		"I2C bus": [11, 12],
		"power chip": [21],
		"speaker and microphones": [0, 13, 14, 33, 34],
		camera: [15, 16, 38, 39, 40, 41, 42, 45, 46, 47, 48],
	},
} satisfies BoardData;
