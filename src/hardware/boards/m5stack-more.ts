import type { BoardData } from "../board-data.js";

/** Pins: the SDK's target m5stack_fire, and M5Stack's documents. */
export const m5stack_fire = {
	title: "M5Stack Fire",
	extends: "m5stack_fire",
	flash: "16MB",
	psram: "4MB quad",
	display: { width: 320, height: 240 },
	buttons: { a: 39, b: 38, c: 37 },
	leds: { bars: { neopixel: 15, length: 10 } },
	pins: { screen: [14, 18, 19, 23, 27, 32, 33], "SD card": [4], "I2C bus": [21, 22] },
	unusedPins: { speaker: [25] },
	note: "No speaker, because the SDK's audio out does not play on the chip's DAC.",
} satisfies BoardData;

/** Pins: the SDK's target m5atom_lite, and M5Stack's documents. */
export const m5atom_lite = {
	title: "M5Stack Atom Lite",
	chip: "esp32",
	i2c: { data: 25, clock: 21 },
	buttons: { button: 39 },
	leds: { led: { neopixel: 27 } },
	unusedPins: { "infrared LED": [12] },
} satisfies BoardData;

/** Pins: the SDK's target m5atom_matrix, and M5Stack's documents. */
export const m5atom_matrix = {
	title: "M5Stack Atom Matrix",
	chip: "esp32",
	i2c: { data: 25, clock: 21 },
	buttons: { button: 39 },
	leds: { matrix: { neopixel: 27, length: 25 } },
	motion: { driver: "mpu6886", unit: "g" },
	unusedPins: { "infrared LED": [12] },
} satisfies BoardData;

/** Pins: the SDK's target m5atom_echo, and M5Stack's documents. */
export const m5atom_echo = {
	title: "M5Stack Atom Echo",
	chip: "esp32",
	speaker: { i2s: { clock: 19, word: 33, data: 22 } },
	buttons: { button: 39 },
	leds: { led: { neopixel: 27 } },
	unusedPins: { "infrared LED": [12], microphone: [23] },
	note: "No microphone: speech needs PSRAM.",
} satisfies BoardData;

/** Pins: the SDK's target m5atom_s3_lite, and M5Stack's documents. */
export const m5atom_s3_lite = {
	title: "M5Stack AtomS3 Lite",
	chip: "esp32s3",
	flash: "8MB",
	buttons: { button: 41 },
	leds: { led: { neopixel: 35 } },
	unusedPins: { "infrared LED": [4] },
} satisfies BoardData;

/** Pins: the SDK's target m5atom_s3_echo_base, and M5Stack's documents of the Atomic Echo Base. */
export const m5atom_s3_lite_echo_base = {
	title: "M5Stack AtomS3 Lite on Atomic Echo Base",
	chip: "esp32s3",
	flash: "8MB",
	i2c: { data: 38, clock: 39 },
	expander: { driver: "pi4ioe5v6408", outputs: { 1: 1, 2: 1, 3: 1, 5: 1, 6: 1 } },
	speaker: { codec: "es8311", i2s: { clock: 8, word: 6, data: 5 } },
	buttons: { button: 41 },
	leds: { led: { neopixel: 35 } },
	unusedPins: { "infrared LED": [4], microphone: [7] },
	note: "No microphone: speech needs PSRAM.",
} satisfies BoardData;

/** Pins: the SDK's target m5atom_echo_s3r, and M5Stack's documents. */
export const m5atom_echo_s3r = {
	title: "M5Stack Atom EchoS3R",
	chip: "esp32s3",
	flash: "8MB",
	psram: "8MB octal",
	i2c: { data: 45, clock: 0 },
	speaker: { codec: "es8311", i2s: { clock: 17, word: 3, data: 48, main: 11 }, enable: 18 },
	microphone: { codec: "es8311", i2s: { clock: 17, word: 3, data: 4, main: 11 } },
	buttons: { button: 41 },
} satisfies BoardData;

/** Pins: the SDK's target m5dial, and M5Stack's documents. Pin 46 keeps the battery on. */
export const m5dial = {
	title: "M5Stack Dial",
	chip: "esp32s3",
	flash: "8MB",
	i2c: { data: 11, clock: 12 },
	outputs: { 46: 1 },
	display: {
		driver: "gc9a01",
		width: 240,
		height: 240,
		spi: { data: 5, clock: 6 },
		select: 7,
		dc: 4,
		reset: 8,
		backlight: 9,
	},
	touch: { driver: "ft6x06", interrupt: 14 },
	buttons: { button: 42 },
	rtc: "bm8563",
	unusedPins: { buzzer: [3], encoder: [40, 41] },
} satisfies BoardData;

/** Pins: the SDK's target m5stamp_s3, and M5Stack's documents. */
export const m5stamp_s3 = {
	title: "M5Stack StampS3",
	chip: "esp32s3",
	flash: "8MB",
	buttons: { button: 0 },
	leds: { led: { neopixel: 21 } },
} satisfies BoardData;

/** Pins: the SDK's target m5nanoc6, and M5Stack's documents. Pin 19 powers the coloured LED. */
export const m5nanoc6 = {
	title: "M5Stack NanoC6",
	chip: "esp32c6",
	outputs: { 19: 1 },
	buttons: { button: 9 },
	leds: { color: { neopixel: 20 }, blue: { pin: 7 } },
	unusedPins: { "infrared LED": [3] },
} satisfies BoardData;

/** Pins: M5Stack's documents, and xiaozhi-esp32's cardputer-adv. */
export const m5cardputer_adv = {
	title: "M5Stack Cardputer-Adv",
	chip: "esp32s3",
	flash: "8MB",
	i2c: { data: 8, clock: 9 },
	display: {
		driver: "st7789",
		width: 240,
		height: 135,
		offset: [40, 53],
		mirror: "x",
		swap: true,
		spi: { data: 35, clock: 36 },
		select: 37,
		dc: 34,
		reset: 33,
		backlight: 38,
	},
	speaker: { codec: "es8311", i2s: { clock: 41, word: 43, data: 42 } },
	buttons: { go: 0 },
	leds: { led: { neopixel: 21 } },
	unusedPins: { keyboard: [11], microphone: [46], "battery's voltage": [10] },
	note: "No microphone: speech needs PSRAM.",
} satisfies BoardData;
