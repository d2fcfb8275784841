import { type ChipPins, range } from "./chip-pins.js";

/** https://docs.espressif.com/projects/esp-idf/en/latest/esp32s2/api-reference/peripherals/gpio.html */
export const ESP32S2: ChipPins = {
	name: "ESP32-S2",
	pins: [...range(0, 21), ...range(26, 46)],
	inputOnly: [46],
	flash: range(26, 32),
	adc: range(1, 10),
	adc2: range(11, 20),
	strapping: [0, 45, 46],
	psram: [],
	usb: [19, 20],
	serial: [43, 44],
};
