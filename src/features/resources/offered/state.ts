import { FIRMWARE } from "../../../core/settings/firmware.js";
import type { Hardware } from "../../../hardware/hardware.js";
import { awakeParts } from "../../../hardware/kinds/index.js";
import { defineResource } from "../define-resource.js";

/** Subscribers are notified of each change of the device's state, and of its parts. */
export const STATE_URI = "device://self/state";

export default defineResource({
	uri: STATE_URI,
	name: "state",
	title: "State of the device",
	description:
		"The device's board, state, firmware version, parts, uptime in milliseconds, memory, and which switches and the like are on.",
	mimeType: "application/json",
	needs: [],
	read: (_variables, hardware) => {
		const { device, system } = hardware;
		const leastFree = system?.info().minimum_free_heap_size;
		return {
			board: device?.board.name,
			state: device?.state,
			version: FIRMWARE.version,
			parts: partsOf(hardware),
			uptime: device?.uptime,
			...awakeParts(hardware),
			...(leastFree !== undefined && { memory: { minimum_free_heap_size: leastFree } }),
		};
	},
});

/** The names of a board's parts: its other members are its name, `close`, and the device as a whole. */
const partsOf = (hardware: Hardware): string[] =>
	Object.entries(hardware)
		.filter(([name, part]) => typeof part === "object" && name !== "device")
		.map(([name]) => name);
