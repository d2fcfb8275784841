import type { OpenMember } from "../board-data.js";
import type { DigitalButton } from "./button-digital.js";
import { esp32Chip } from "./esp32-chip.js";
import { BOOT_PINS } from "./esp32-models.js";
import { openButton } from "./open-button.js";
import { consolePort } from "./open-console-port.js";

/** Adds the parts of a bare chip: the serial port of its log, and its BOOT button, which is opened on demand. */
const openDevkit: OpenMember = ({ board, closing }) => {
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
};

export default openDevkit;
