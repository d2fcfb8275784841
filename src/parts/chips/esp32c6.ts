import { type ChipPins, range } from "./chip-pins.js";

/** https://docs.espressif.com/projects/esp-idf/en/latest/esp32c6/api-reference/peripherals/gpio.html */
export const ESP32C6: ChipPins = {
	name: "ESP32-C6",
	pins: range(0, 30),
	inputOnly: [],
	flash: range(24, 30),
	adc: range(0, 6),
	adc2: [],
	strapping: [4, 5, 8, 9, 15],
	psram: [],
	usb: [12, 13],
	serial: [16, 17],
};
