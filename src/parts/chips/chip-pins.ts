/**
 * The pins of a chip, by number: the tables of Espressif's ESP-IDF Programming Guide, "GPIO & RTC GPIO", and of the chip's
 * datasheet, "Strapping Pins".
 */
export interface ChipPins {
	/** As people write it: "ESP32-S3". */
	readonly name: string;
	/** All that it has. */
	readonly pins: readonly number[];
	/** Inputs that have no output and no resistors. */
	readonly inputOnly: readonly number[];
	/** Those of the flash, in every module. */
	readonly flash: readonly number[];
	/** Those of the converter that works beside the Wi-Fi. */
	readonly adc: readonly number[];
	/** Those of the second converter, which does not. */
	readonly adc2: readonly number[];
	/** Those that decide how the chip starts. */
	readonly strapping: readonly number[];
	/** Those of the PSRAM or a fast flash, in some modules. */
	readonly psram: readonly number[];
	/** Those of the USB port, and of the serial port for the log. */
	readonly usb: readonly number[];
	readonly serial: readonly number[];
}

/** The numbers from one to another, both included. */
export function range(first: number, last: number): number[] {
	return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}
