import type { Hardware } from "./hardware.js";

/** A part of a board: "speaker", "screen", … */
export type Part = keyof Hardware;

/** The hardware passed to a tool, resource or prompt: the parts it needs are present, others may be. */
export type HardwareWith<Needs extends Part> = Hardware & { readonly [P in Needs]-?: NonNullable<Hardware[P]> };

/** Something offered only on a board with the parts it needs. */
export interface WithNeeds<Needs extends Part = Part> {
	/** The parts of the board that it uses. */
	readonly needs: readonly Needs[];
}

/** Whether a board has every part that a tool, resource or prompt needs. */
export const isOffered = ({ needs }: WithNeeds, hardware: Hardware): boolean =>
	needs.every((part) => hardware[part] !== undefined);
