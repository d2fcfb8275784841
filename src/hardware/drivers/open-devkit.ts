import Serial from "embedded:io/serial";
import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { OpenMember } from "../board-data.js";
import type { SerialRecord } from "../hardware.js";
import type { DigitalButton } from "./button-digital.js";
import { esp32Chip } from "./esp32-chip.js";
import { BOOT_PINS } from "./esp32-models.js";
import { openButton } from "./open-button.js";

/** The UART of ESP-IDF's log: `esp32-console.c`, built for an ESP32 only. */
const esp32Console = deepFreeze({
	/** Disables the interrupts that the chip's ROM leaves on, unless ESP-IDF's driver uses them. */
	disableInterrupts(): void {
		native("xs_esp32console_disableInterrupts").call(this);
	},
});

/** The pins of UART 0, which leads to the USB connector of most boards, by ESP-IDF's number of the chip. */
const PINS: Readonly<Record<number, { readonly transmit: number; readonly receive: number }>> = deepFreeze({
	1: { transmit: 1, receive: 3 }, // ESP32
	2: { transmit: 43, receive: 44 }, // ESP32-S2
	5: { transmit: 21, receive: 20 }, // ESP32-C3
	9: { transmit: 43, receive: 44 }, // ESP32-S3
	13: { transmit: 16, receive: 17 }, // ESP32-C6
});

/** The serial port of ESP-IDF's log, ready to be opened. It can be opened in release builds only. */
const consolePort = (): SerialRecord | undefined => {
	const pins = PINS[esp32Chip.model];
	esp32Console.disableInterrupts();
	return pins && ({ io: Serial, port: 0, ...pins } as unknown as SerialRecord);
};

/** Adds the parts of a bare chip: the serial port of its log, and its BOOT button, which is opened on demand. */
export default (({ board, closing }) => {
	const serial = consolePort();
	const pin = BOOT_PINS[esp32Chip.model];
	let boot: DigitalButton | undefined;
	Object.assign(board, {
		serials: [...(serial ? [serial] : []), ...(board.serials ?? [])],
		...(pin !== undefined &&
			board.bootButton === undefined && {
				bootButton: () => {
					boot ??= openButton({ pin });
					return boot;
				},
			}),
	});
	closing.push({ close: () => boot?.close() });
}) satisfies OpenMember;
