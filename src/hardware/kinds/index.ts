import type { rule } from "../rules.js";
import { button } from "./button.js";
import { light } from "./light.js";
import { line } from "./line.js";
import type { Member, PartKind, PartOf } from "./part-kind.js";
import { type Reading, type Sensor, sensor } from "./sensor.js";
import { servo } from "./servo.js";
import { siren } from "./siren.js";
import { switchKind } from "./switch.js";

/** The kinds of every build, in the order of the status. It is only appended to, so that prompt caches stay valid. */
const KINDS = Object.freeze([button, light, sensor, switchKind, servo, line, siren] as const);

type Kind = (typeof KINDS)[number] | typeof rule;

/** Name of a kind: "switch". */
export type KindName = Kind["name"];

/** Parts of a board by the plural of their kind, and by name. */
export type PartsByKind = {
	readonly [Each in Kind as Each["plural"]]?: Readonly<Record<string, PartOf<Each>>>;
};

/** Parts by their kind. */
export type PartByKind = { readonly [Each in Kind as Each["name"]]?: PartOf<Each> };

/** Types of values by the word for them. */
interface Values {
	boolean: boolean;
	number: number;
	integer: number;
	string: string;
	color: number;
	reading: Reading;
	unit: Sensor["unit"];
	any: unknown;
}

/** Name of the kind of a plural: "switch" of "switches". */
export type KindOf<Plural extends keyof PartsByKind> = Extract<Kind, { readonly plural: Plural }>["name"];

type EventMember<Name> =
	Extract<Kind, { readonly name: Name }> extends {
		readonly event: { readonly data: readonly (infer Each extends Member)[] };
	}
		? Each
		: never;

/** Values of the event of a kind, by their names. */
export type EventOf<Name extends KindName> = {
	readonly [Each in EventMember<Name> as Each["name"]]: Values[Each["type"]];
};

/** Name of a handler of a kind's event: "press" of `onPress`. Never for a kind without an event. */
export type EventName<Name extends KindName> =
	Extract<Kind, { readonly name: Name }> extends {
		readonly event: { readonly by: `on${infer By}` };
	}
		? Uncapitalize<By>
		: never;

/** {@link KINDS}, with the common type of all kinds. */
export const PART_KINDS: readonly (PartKind & Pick<Kind, "name" | "plural">)[] = KINDS;

/** The kinds that the status has. */
export const STATUS_KINDS = Object.freeze(PART_KINDS.filter(({ status }) => status.length > 0));

/** Returns which parts are on, of the kinds that keep the device awake, by the kind's plural and by name. */
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
