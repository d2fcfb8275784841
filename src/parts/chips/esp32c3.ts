import { type ChipPins, range } from "./chip-pins.js";

/** https://docs.espressif.com/projects/esp-idf/en/latest/esp32c3/api-reference/peripherals/gpio.html */
export const ESP32C3: ChipPins = {
	name: "ESP32-C3",
	pins: range(0, 21),
	inputOnly: [],
	flash: range(12, 17),
	adc: range(0, 4),
	adc2: [5],
	strapping: [2, 8, 9],
	// The supply of the flash, unless the chip was told otherwise for good.
	psram: [11],
	usb: [18, 19],
	serial: [20, 21],
};
