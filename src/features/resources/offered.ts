import { FIRMWARE } from "../../core/firmware.js";
import { awakeParts } from "../../hardware/kinds/index.js";
import { MAX_PICTURE_BYTES, readWhole } from "../../hardware/pictures.js";
import { defineResource, type HardwareResource } from "./define-resource.js";

/** Subscribers are notified of each change of the device's state, and of its parts. */
export const STATE_URI = "device://self/state";

const state = defineResource({
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

/** Members that are no parts of a board: the device as a whole, and pins of a fixed level. */
const OTHERS: readonly string[] = Object.freeze(["device", "outputs"]);

/** The names of a board's parts. */
const partsOf = (hardware: object): string[] =>
	Object.entries(hardware)
		.filter(([name, part]) => typeof part === "object" && !OTHERS.includes(name))
		.map(([name]) => name);

/** Percent: text stays readable, and the picture small. */
const QUALITY = 60;

const screen = defineResource({
	uri: "device://self/screen",
	name: "screen",
	title: "Picture of the screen",
	description: "What the device's screen shows now, as a JPEG.",
	mimeType: "image/jpeg",
	needs: ["snapshot"],
	read: async (_variables, { snapshot }) => readWhole(await snapshot.take(QUALITY), MAX_PICTURE_BYTES),
});

const camera = defineResource({
	uri: "device://self/camera",
	name: "camera",
	title: "Picture from the camera",
	description: "What the device's camera sees now, as a JPEG. Each read takes a new picture.",
	mimeType: "image/jpeg",
	needs: ["camera"],
	read: async (_variables, { camera }) => readWhole(await camera.capture(), MAX_PICTURE_BYTES),
});

/** The firmware's resources. */
export const OFFERED: readonly HardwareResource[] = [camera, screen, state];
