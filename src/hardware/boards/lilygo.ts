import type { BoardData } from "../board-data.js";

/** Pins: the SDK's target lilygo_ttgo, and LILYGO's repository TTGO-T-Display. */
export const lilygo_ttgo = {
	title: "LILYGO TTGO T-Display",
	chip: "esp32",
	i2c: { data: 21, clock: 22 },
	display: {
		driver: "st7789",
		width: 240,
		height: 135,
		offset: [40, 53],
		mirror: "x",
		swap: true,
		spi: { data: 19, clock: 18 },
		select: 5,
		dc: 16,
		reset: 23,
		backlight: 4,
	},
	buttons: { right: 35, left: 0 },
	unusedPins: { "battery's voltage": [14, 34] },
} satisfies BoardData;

/** Pins: the SDK's target lilygo_t_qt, and LILYGO's repository T-QT. */
export const lilygo_t_qt = {
	title: "LILYGO T-QT",
	extends: "lilygo_t_qt",
	flash: "8MB",
	display: { width: 128, height: 128 },
	buttons: { right: 47, left: 0 },
	pins: { screen: [1, 2, 3, 5, 6, 10] },
	unusedPins: { "battery's voltage": [4] },
} satisfies BoardData;

/** Pins: the SDK's target lilygo_t_camera_plus_s3, and LILYGO's repository T-CameraPlus-S3, version 1.0. */
export const lilygo_t_camera_plus_s3 = {
	title: "LILYGO T-Camera Plus S3",
	chip: "esp32s3",
	flash: "16MB",
	psram: "8MB quad",
	i2c: { data: 1, clock: 2 },
	display: {
		driver: "st7789",
		width: 240,
		height: 240,
		spi: { data: 35, clock: 36 },
		select: 21,
		dc: 45,
		reset: 33,
		backlight: 46,
	},
	touch: { driver: "cst816", interrupt: 47, reset: 48 },
	speaker: { i2s: { clock: 41, word: 42, data: 38 } },
	microphone: { pdm: { clock: 39, data: 40 } },
	buttons: { boot: 0 },
	pins: { camera: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] },
	note: "The camera is not used: it shares the I2C bus.",
} satisfies BoardData;
