import type { Attachment } from "../app/application-options.js";
import type { Board, Hardware } from "../hardware/hardware.js";
import { deepFreeze } from "../text/deep-freeze.js";
import type { DeviceDefinition } from "./device.js";
import type { PartIo, PartKind } from "./part.js";

/** A board with the parts of its device, and what follows the application for them. */
export interface WithParts<Own extends Board> {
	readonly board: Own;
	readonly followers: readonly Attachment[];
}

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
 * Opens the parts of a device, beside those of the board.
 *
 * @throws Error if the board has a part of the same name
 */
export const withParts = <Own extends Board>(
	board: Own,
	{ parts }: DeviceDefinition,
	io: Omit<PartIo, "name">,
): WithParts<Own> => {
	for (const name of Object.keys(parts)) {
		const place = PLACES.find(([, place]) => board[place]?.[name] !== undefined)?.[1];
		if (place !== undefined) {
			throw new Error(`part ${name}: the board has ${place} of this name: choose another name`);
		}
	}
	const opened = Object.entries(parts).map(([name, part]) => [name, part.open({ ...io, name })] as const);
	const places = PLACES.map(([member, place]) => {
		const own = opened.flatMap(([name, part]) => (part[member] === undefined ? [] : [[name, part[member]] as const]));
		return [place, own.length === 0 ? board[place] : { ...board[place], ...Object.fromEntries(own) }] as const;
	});
	return {
		board: {
			...board,
			...Object.fromEntries(places.filter(([, parts]) => parts !== undefined)),
			close() {
				for (const [, part] of opened) {
					part.close();
				}
				board.close();
			},
		},
		followers: [
			{
				sessionEnded() {
					for (const [, part] of opened) {
						part.sessionEnded?.();
					}
				},
			},
		],
	};
};
