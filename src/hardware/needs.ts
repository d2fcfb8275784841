import type { Hardware } from "./hardware.js";

/** A part of a board: "speaker", "screen", … */
export type Part = keyof Hardware;

/** The hardware that a tool, resource or prompt is handed: the parts it needs are there, the others may be. */
export type HardwareWith<Needs extends Part> = Hardware & { readonly [P in Needs]-?: NonNullable<Hardware[P]> };

/** What is offered only on a board that has the parts it needs. */
export interface WithNeeds<Needs extends Part = Part> {
	/** The parts of the board that it uses. */
	readonly needs: readonly Needs[];
}

/** Whether a board has every part that a tool, resource or prompt needs. */
export function isOffered({ needs }: WithNeeds, hardware: Hardware): boolean {
	return needs.every((part) => hardware[part] !== undefined);
}
