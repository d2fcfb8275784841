import Digital from "embedded:io/digital";
import Time from "time";
import Timer from "timer";
import type { OpenMember } from "../board-data.js";
import { DigitalButton, type DigitalButtonOptions, type DigitalClass } from "./button-digital.js";
import { esp32Chip } from "./esp32-chip.js";
import { ESP32_MODELS } from "./esp32-models.js";

/** Opens a button on a pin of the chip. */
export const openButton = (options: Pick<DigitalButtonOptions, "pin" | "activeHigh">): DigitalButton =>
	// The SDK's typings also require the options of an output.
	new DigitalButton({ ...options, io: Digital as unknown as DigitalClass, timer: Timer, ticks: () => Time.ticks });

/** Opens the buttons of a board. The one at the chip's BOOT pin is also its BOOT button. */
export default (({ data: { buttons = {} }, board }) => {
	const bootPin = ESP32_MODELS[esp32Chip.numbers.model]?.boot;
	for (const [name, pin] of Object.entries(buttons)) {
		const button = openButton(typeof pin === "number" ? { pin } : pin);
		const isBoot = button.wakePin?.pin === bootPin;
		Object.assign(board, {
			buttons: { ...board.buttons, [name]: button },
			...(isBoot && { bootButton: () => button }),
		});
	}
}) satisfies OpenMember;
