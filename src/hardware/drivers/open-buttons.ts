import type { OpenMember } from "../board-data.js";
import { esp32Chip } from "./esp32-chip.js";
import { BOOT_PINS } from "./esp32-models.js";
import { openButton } from "./open-button.js";

/** Opens the buttons of a board. The one at the chip's BOOT pin is its BOOT button, too. */
export default (({ data: { buttons = {} }, board, closing }) => {
	const opened = Object.entries(buttons).map(
		([name, pin]) => [name, openButton(typeof pin === "number" ? { pin } : pin)] as const,
	);
	const boot = opened.find(([, { wakePin }]) => wakePin.pin === BOOT_PINS[esp32Chip.model])?.[1];
	Object.assign(board, {
		buttons: { ...board.buttons, ...Object.fromEntries(opened) },
		...(boot && { bootButton: () => boot }),
	});
	closing.push(...opened.map(([, button]) => button));
}) satisfies OpenMember;
