import { type ChipPins, range } from "./chip-pins.js";

/** https://docs.espressif.com/projects/esp-idf/en/latest/esp32s3/api-reference/peripherals/gpio.html */
export const ESP32S3: ChipPins = {
	name: "ESP32-S3",
	pins: [...range(0, 21), ...range(26, 48)],
	inputOnly: [],
	flash: range(26, 32),
	adc: range(1, 10),
	adc2: range(11, 20),
	strapping: [0, 3, 45, 46],
	psram: range(33, 37),
	usb: [19, 20],
	serial: [43, 44],
};
