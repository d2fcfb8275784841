import type { Listener } from "../../core/listener.js";
import type { BoardData } from "../board-data.js";
import type { Hardware } from "../hardware.js";
import { PART_KINDS } from "../kinds/index.js";
import { type Handlers, type PartHandler, type Parts, readHandlers } from "./handlers.js";
import type { Part, PartIo } from "./part.js";

/** A device of one's own, as its maker writes it. */
export interface DeviceOptions<Own extends Parts> extends Handlers<NoInfer<Own>> {
	/** A board of docs/boards.md or a target of the SDK, "esp32/lolin_s2mini"; or your own as data. Undefined for a bare ESP32. */
	readonly board?: string | BoardData | undefined;
	readonly parts: Own;
}

/** A device of one's own: the default export of the module `device` of a build. */
export interface DeviceDefinition extends Pick<DeviceOptions<Parts>, "board" | "parts"> {
	/** Handlers of the events of its parts. */
	readonly handlers: readonly PartHandler[];
}

/** Parts of a device. */
const MAX_PARTS = 32;

/** Their names become members of results, values of arguments, and names of entities in Home Assistant. */
const NAME_LENGTH = 32;

/**
 * Defines a device by its parts, which are opened when the firmware starts, and by the handlers of their events.
 *
 * @throws TypeError that names the part or handler, its fault, and the expected value
 * @example
 * export default device({
 *   parts: { lamp: relay({ pin: 26 }), bell: button({ pin: 0 }) },
 *   on: { bell: { press: ({ switches }) => switches.lamp.toggle() } },
 * });
 */
export const device = <const Own extends Parts>({
	board,
	parts,
	...handlers
}: DeviceOptions<Own>): DeviceDefinition => {
	if (board !== undefined && typeof board !== "string" && (typeof board !== "object" || board === null)) {
		throw new TypeError('board: expected a target such as "esp32/lolin_s2mini", or { chip: "esp32s3", … }');
	}
	if (typeof parts !== "object" || parts === null || Array.isArray(parts)) {
		throw new TypeError("parts: expected an object: { pump: relay({ pin: 26 }) }");
	}
	const names = Object.keys(parts);
	if (names.length > MAX_PARTS) {
		throw new TypeError(`parts: expected at most ${MAX_PARTS}, got ${names.length}`);
	}
	for (const name of names) {
		checkPart(name, parts[name]);
	}
	return { board, parts, handlers: readHandlers(parts, handlers) };
};

const checkPart = (name: string, part: Partial<Part> | undefined): void => {
	if (name.length > NAME_LENGTH || !/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) {
		throw new TypeError(
			`part ${JSON.stringify(name)}: expected a name of 1 to ${NAME_LENGTH} letters, digits and "_", which begins with a letter`,
		);
	}
	if (typeof part?.open !== "function" || !Array.isArray(part.pins)) {
		throw new TypeError(`part ${name}: expected what relay(…), analog(…) or another function for parts returns`);
	}
	if (part.fault !== undefined) {
		throw new TypeError(`part ${name}: ${part.fault}`);
	}
};

/**
 * Opens the parts of a device, and adds them to those of the board.
 *
 * @returns what follows the application for them
 * @throws Error if the board has a part of the same name
 */
export const addParts = (
	board: Hardware,
	{ parts }: Pick<DeviceDefinition, "parts">,
	io: Omit<PartIo, "name">,
): Listener => {
	for (const name of Object.keys(parts)) {
		const place = PART_KINDS.find(({ plural }) => Object.hasOwn(board[plural] ?? {}, name))?.plural;
		if (place !== undefined) {
			throw new Error(`part ${name}: the board has ${place} of this name: choose another name`);
		}
	}
	const opened = Object.entries(parts).map(([name, part]) => [name, part.open({ ...io, name })] as const);
	for (const { name: kind, plural } of PART_KINDS) {
		const own = opened.filter(([name]) => parts[name]?.makes === kind);
		if (own.length > 0) {
			Object.assign(board, { [plural]: { ...board[plural], ...Object.fromEntries(own) } });
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
