/**
 * The pins of a chip, by number: the tables of Espressif's ESP-IDF Programming Guide, "GPIO & RTC GPIO", and of the chip's
 * datasheet, "Strapping Pins".
 */
export interface ChipPins {
	/** Usual spelling: "ESP32-S3". */
	readonly name: string;
	/** All pins. */
	readonly pins: readonly number[];
	/** Inputs that have no output and no resistors. */
	readonly inputOnly: readonly number[];
	/** Pins of the flash, in every module. */
	readonly flash: readonly number[];
	/** Pins of the first analog converter, ADC1, which works while Wi-Fi is on. */
	readonly adc: readonly number[];
	/** Pins of the second one, ADC2, which does not. */
	readonly adc2: readonly number[];
	/** Pins that decide how the chip starts. */
	readonly strapping: readonly number[];
	/** Pins of the PSRAM or a fast flash, in some modules. */
	readonly psram: readonly number[];
	/** Pins of the USB port, and of the serial port for the log. */
	readonly usb: readonly number[];
	readonly serial: readonly number[];
}

/** The numbers from the first to the last, both included. */
function range(first: number, last: number): number[] {
	return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

/**
 * The chips whose pins are known, by ESP-IDF's names:
 * https://docs.espressif.com/projects/esp-idf/en/latest/esp32/api-reference/peripherals/gpio.html, and likewise for the others.
 */
export const CHIPS: Readonly<Record<string, ChipPins>> = {
	esp32: {
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
	},
	esp32c3: {
		name: "ESP32-C3",
		pins: range(0, 21),
		inputOnly: [],
		flash: range(12, 17),
		adc: range(0, 4),
		adc2: [5],
		strapping: [2, 8, 9],
		// The supply of the flash, unless an eFuse says otherwise.
		psram: [11],
		usb: [18, 19],
		serial: [20, 21],
	},
	esp32c6: {
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
	},
	esp32s2: {
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
	},
	esp32s3: {
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
	},
};
