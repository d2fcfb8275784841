import type { Listener } from "../app/application.js";
import type { Hardware } from "../hardware/hardware.js";
import { deepFreeze } from "../text/deep-freeze.js";
import type { DeviceDefinition } from "./device.js";
import type { PartIo, PartKind } from "./part.js";

/** The member of an opened part, and the member of the hardware that has such parts by name. */
const PLACES = deepFreeze([
	["switch", "switches"],
	["light", "lights"],
	["sensor", "sensors"],
	["servo", "servos"],
	["line", "lines"],
	["button", "buttons"],
] as const satisfies readonly (readonly [PartKind, keyof Hardware])[]);

/**
 * Opens the parts of a device, and adds them to those of the board.
 *
 * @returns what follows the application for them
 * @throws Error if the board has a part of the same name
 */
export const addParts = (board: Hardware, { parts }: DeviceDefinition, io: Omit<PartIo, "name">): Listener => {
	for (const name of Object.keys(parts)) {
		const place = PLACES.find(([, place]) => board[place]?.[name] !== undefined)?.[1];
		if (place !== undefined) {
			throw new Error(`part ${name}: the board has ${place} of this name: choose another name`);
		}
	}
	const opened = Object.entries(parts).map(([name, part]) => [name, part.open({ ...io, name })] as const);
	for (const [member, place] of PLACES) {
		const own = opened.flatMap(([name, part]) => (part[member] === undefined ? [] : [[name, part[member]] as const]));
		if (own.length > 0) {
			Object.assign(board, { [place]: { ...board[place], ...Object.fromEntries(own) } });
		}
	}
	return {
		onSessionLost() {
			for (const [, part] of opened) {
				part.sessionEnded?.();
			}
		},
		onClose() {
			for (const [, part] of opened) {
				part.close();
			}
		},
	};
};
