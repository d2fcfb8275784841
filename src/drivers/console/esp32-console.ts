import { deepFreeze } from "../../text/deep-freeze.js";

/**
 * The UART of ESP-IDF's log. Its code is `esp32-console.c`, which mcconfig builds in for an ESP32 and for nothing else.
 */
export const esp32Console = deepFreeze({
	/** Disables the interrupts that the chip's ROM leaves on, unless ESP-IDF's driver uses them. */
	disableInterrupts(): void {
		native("xs_esp32console_disableInterrupts").call(this);
	},
});
