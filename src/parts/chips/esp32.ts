import { type ChipPins, range } from "./chip-pins.js";

/** https://docs.espressif.com/projects/esp-idf/en/latest/esp32/api-reference/peripherals/gpio.html */
export const ESP32: ChipPins = {
	name: "ESP32",
	pins: [...range(0, 19), ...range(21, 23), ...range(25, 27), ...range(32, 39)],
	inputOnly: range(34, 39),
	flash: range(6, 11),
	adc: range(32, 39),
	adc2: [0, 2, 4, ...range(12, 15), ...range(25, 27)],
	strapping: [0, 2, 5, 12, 15],
	psram: [16, 17],
	usb: [],
	serial: [1, 3],
};
