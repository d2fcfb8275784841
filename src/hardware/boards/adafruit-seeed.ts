import type { BoardData } from "../board-data.js";

/** Pins: the SDK's target xiao_esp32c3, and Seeed Studio's wiki. */
export const xiao_esp32c3 = {
	title: "Seeed Studio XIAO ESP32C3",
	chip: "esp32c3",
	i2c: { data: 6, clock: 7 },
	buttons: { boot: 9 },
} satisfies BoardData;

/** Pins: Seeed Studio's wiki. Pin 3 powers the switch of the antennas, pin 14 selects the one on the board. */
export const xiao_esp32c6 = {
	title: "Seeed Studio XIAO ESP32C6",
	chip: "esp32c6",
	i2c: { data: 22, clock: 23 },
	outputs: { 3: 0, 14: 0 },
	buttons: { boot: 9 },
	leds: { led: { pin: 15, activeLow: true } },
} satisfies BoardData;

/** Pins: the SDK's target xiao_esp32s3, and Seeed Studio's wiki. */
export const xiao_esp32s3 = {
	title: "Seeed Studio XIAO ESP32S3",
	chip: "esp32s3",
	flash: "8MB",
	psram: "8MB octal",
	i2c: { data: 5, clock: 6 },
	buttons: { boot: 0 },
	leds: { led: { pin: 21, activeLow: true } },
} satisfies BoardData;

/** Pins: the SDK's target qtpys3, and Adafruit's guide. Pin 38 powers the LED. */
export const qtpys3 = {
	title: "Adafruit QT Py ESP32-S3, 8 MB",
	chip: "esp32s3",
	flash: "8MB",
	i2c: { data: 41, clock: 40 },
	outputs: { 38: 1 },
	buttons: { boot: 0 },
	leds: { led: { neopixel: 39 } },
} satisfies BoardData;

/** Pins: the SDK's target feather_s3_tft, and Adafruit's guide. Pin 21 powers screen and I2C, pin 34 the LED. */
export const feather_s3_tft = {
	title: "Adafruit ESP32-S3 TFT Feather",
	chip: "esp32s3",
	psram: "2MB quad",
	i2c: { data: 42, clock: 41 },
	outputs: { 21: 1, 34: 1 },
	display: {
		driver: "st7789",
		width: 240,
		height: 135,
		offset: [40, 53],
		mirror: "x",
		swap: true,
		spi: { data: 35, clock: 36 },
		select: 7,
		dc: 39,
		reset: 40,
		backlight: 45,
	},
	buttons: { boot: 0 },
	leds: { led: { neopixel: 33 } },
} satisfies BoardData;
