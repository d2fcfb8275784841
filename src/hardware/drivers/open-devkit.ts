import Serial from "embedded:io/serial";
import { deepFreeze } from "../../core/text/deep-freeze.js";
import type { OpenMember } from "../board-data.js";
import type { DigitalButton } from "./button-digital.js";
import { esp32Chip } from "./esp32-chip.js";
import { ESP32_MODELS } from "./esp32-models.js";
import { openButton } from "./open-buttons.js";

/** The UART of ESP-IDF's log: `esp32-console.c`, built for an ESP32 only. */
const esp32Console = deepFreeze({
	/** Disables the interrupts that the chip's ROM leaves on, unless ESP-IDF's driver uses them. */
	disableInterrupts(): void {
		native("xs_esp32console_disableInterrupts").call(this);
	},
});

/** Adds the parts of a bare chip: the serial port of its log, and its BOOT button, which is opened on demand. */
export default (({ board }) => {
	const { boot: pin, uart } = ESP32_MODELS[esp32Chip.numbers.model] ?? {};
	// It can be opened in release builds only.
	esp32Console.disableInterrupts();
	let boot: DigitalButton | undefined;
	Object.assign(board, {
		serials: [...(uart ? [{ io: Serial, port: 0, ...uart }] : []), ...(board.serials ?? [])],
		...(pin !== undefined &&
			board.bootButton === undefined && {
				bootButton: () => {
					boot ??= openButton({ pin });
					return boot;
				},
			}),
	});
}) satisfies OpenMember;
