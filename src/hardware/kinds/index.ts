import { deepFreeze } from "../../core/text/deep-freeze.js";
import { button } from "./button.js";
import { light } from "./light.js";
import { line } from "./line.js";
import type { PartKind, PartOf } from "./part-kind.js";
import { sensor } from "./sensor.js";
import { servo } from "./servo.js";
import { siren } from "./siren.js";
import { switchKind } from "./switch.js";

/** Every kind of parts, in the order of the status. It is only appended to, so that prompt caches stay valid. */
const KINDS = deepFreeze([button, light, sensor, switchKind, servo, line, siren] as const);

type Kind = (typeof KINDS)[number];

/** Name of a kind: "switch". */
export type KindName = Kind["name"];

/** Parts of a board by the plural of their kind, and by name. */
export type PartsByKind = {
	readonly [Each in Kind as Each["plural"]]?: Readonly<Record<string, PartOf<Each>>>;
};

/** Parts by their kind. */
export type PartByKind = { readonly [Each in Kind as Each["name"]]?: PartOf<Each> };

/** {@link KINDS}, as the code for all of them reads them. */
export const PART_KINDS: readonly (PartKind & Pick<Kind, "name" | "plural">)[] = KINDS;

/** The kinds that the status has. */
export const STATUS_KINDS = deepFreeze(PART_KINDS.filter(({ status }) => status.length > 0));

/** Which parts are on, of the kinds that keep the device awake: by the plural of the kind, and by name. */
export const awakeParts = (hardware: PartsByKind): Readonly<Record<string, Readonly<Record<string, boolean>>>> => {
	const states: Record<string, Record<string, boolean>> = {};
	for (const { plural, keepsAwake } of PART_KINDS) {
		for (const [name, part] of Object.entries((keepsAwake && hardware[plural]) ?? {})) {
			states[plural] = { ...states[plural], [name]: (part as { readonly on: boolean }).on };
		}
	}
	return states;
};

/** Whether a part is on that keeps the device awake. */
export const keepsAwake = (hardware: PartsByKind): boolean =>
	Object.values(awakeParts(hardware)).some((states) => Object.values(states).includes(true));
