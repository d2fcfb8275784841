import type { Part, PinUse } from "../../../src/hardware/parts/part.js";
import { profileOf } from "../../virtual-device/src/index.js";
import { checkDevice, chipOfBoard } from "./build/check-board.js";
import { CHIPS } from "./build/chip-pins.js";

/** Uses of a pin that a board's description tells apart. */
const USES = ["output", "input", "analog"] as const satisfies readonly PinUse[];

/**
 * Describes a board for the choice of pins. `free` has pins without a side effect, by use. `avoid` has the side effects of
 * other pins.
 *
 * @param board mcconfig's name: "esp32/lolin_s3". Default: a bare ESP32
 */
export function describeBoard(board = "esp32", parts: Readonly<Record<string, Part>> = {}): object {
	const chip = chipOfBoard(board);
	const used = Object.fromEntries(Object.entries(parts).map(([name, { pins }]) => [name, pins.map(({ pin }) => pin)]));
	const taken = Object.values(used).flat();
	const warnings = new Set<string>();
	const isFree = (pin: number, use: PinUse): boolean => {
		try {
			const found = checkDevice({ board, parts: { new: probe(pin, use) } });
			for (const warning of found) {
				warnings.add(warning.replace("part new: ", ""));
			}
			return found.length === 0;
		} catch {
			return false;
		}
	};
	const pins = (CHIPS[chip]?.pins ?? []).filter((pin) => !taken.includes(pin));
	const free = USES.map((use) => [use, pins.filter((pin) => isFree(pin, use))]);
	const { buttons, lights, sensors } = profileOf(board);
	return { board, chip, buttons, lights, sensors, used, free: Object.fromEntries(free), avoid: [...warnings] };
}

/** A part for the check of one pin, which is never opened. */
const probe = (pin: number, use: PinUse): Part => ({
	makes: "switch",
	pins: [{ pin, use }],
	fault: undefined,
	open: () => ({ close() {} }),
});
