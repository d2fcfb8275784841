import type { Hardware } from "../hardware.js";
import {
	type EventName,
	type EventOf,
	type KindName,
	type KindOf,
	PART_KINDS,
	type PartByKind,
	type PartsByKind,
} from "../kinds/index.js";
import { DAYS, isTimeOfDay, MAX_EVERY, type Rule } from "../rules.js";
import type { Part } from "./part.js";

/** Parts of a device, by their names. */
export type Parts = Readonly<Record<string, Part>>;

/** Parts of one kind at work, by the names of a device's own parts. */
type PartsOf<Own extends Parts, Kind extends KindName> = {
	readonly [Name in keyof Own as Own[Name] extends Part<Kind> ? Name : never]: NonNullable<PartByKind[Kind]>;
};

/** The hardware of a device with its own parts by their names: `switches.lamp`. */
export type OwnHardware<Own extends Parts> = Omit<Hardware, keyof PartsByKind> & {
	readonly [Plural in keyof PartsByKind]-?: PartsOf<Own, KindOf<Plural>>;
};

/** A function of a maker. Its error is logged with its name; a promise may take a minute. */
type Handler<Own extends Parts, Event> = (hardware: OwnHardware<Own>, event: Event) => unknown;

/** Runs while the value is beyond the limit: at once, and again after each cooldown. */
type LimitHandler<Own extends Parts> = readonly [
	limit: number,
	handler: Handler<Own, { readonly value: number }>,
	options?: {
		/** Which value of a sensor of several things: "temperature". */
		readonly kind?: string;
		/** Minimum seconds from one run to the next: 1 to 604,800. Default 60. */
		readonly cooldown?: number;
	},
];

type PartHandlers<Kind extends KindName, Own extends Parts> = {
	readonly [Name in EventName<Kind>]?: Handler<Own, EventOf<Kind>>;
} & (Kind extends "button" ? { readonly longPress?: Handler<Own, EventOf<Kind>> } : unknown) &
	(Kind extends "sensor" ? { readonly above?: LimitHandler<Own>; readonly below?: LimitHandler<Own> } : unknown);

/** Handlers of a device: it acts without a client. */
export interface Handlers<Own extends Parts> {
	/** Handlers of events, by part. */
	readonly on?: { readonly [Name in keyof Own]?: PartHandlers<Own[Name]["makes"], Own> };
	/** Handlers that run at an interval in seconds: 1 to 604,800. */
	readonly every?: readonly (readonly [seconds: number, handler: Handler<Own, object>])[];
	/** Handlers that run at a local time of day, "07:00", on all days or some. */
	readonly at?: readonly (readonly [
		time: string,
		handler: Handler<Own, object>,
		options?: { readonly days?: readonly (typeof DAYS)[number][] },
	])[];
}

/** A handler as data, with its name, such as "doorbell.press", and its trigger. */
export interface PartHandler extends Pick<Rule, "name" | "when" | "cooldown"> {
	readonly handle: (hardware: Hardware, event: object) => unknown;
}

/** Handlers before they are checked. */
interface GivenHandlers {
	readonly on?: Readonly<Record<string, object | undefined>>;
	readonly every?: readonly (readonly unknown[])[];
	readonly at?: readonly (readonly unknown[])[];
}

const misfit = (name: string, expected: string): TypeError => new TypeError(`${name}: expected ${expected}`);

const isHandler = (value: unknown): value is PartHandler["handle"] => typeof value === "function";

const isSeconds = (value: unknown): value is number => typeof value === "number" && value >= 1 && value <= MAX_EVERY;

/**
 * Reads the handlers of a device.
 *
 * @throws TypeError that names the handler and the expected form
 */
export const readHandlers = (parts: Parts, { on = {}, every = [], at = [] }: GivenHandlers): readonly PartHandler[] => [
	...Object.entries(on).flatMap(([part, handlers]) =>
		Object.entries(handlers ?? {}).map(([trigger, handler]) => readPartHandler(parts, part, trigger, handler)),
	),
	...every.map(([seconds, handle], index) => {
		if (!isSeconds(seconds) || !isHandler(handle)) {
			throw misfit(`every[${index}]`, `[seconds, function], 1 to ${MAX_EVERY} seconds`);
		}
		return { name: `every ${seconds}`, when: { every: seconds }, handle };
	}),
	...at.map(([time, handle, options = {}], index) => {
		const { days } = options as { readonly days?: readonly (typeof DAYS)[number][] };
		if (!isTimeOfDay(time) || !isHandler(handle) || days?.every((day) => DAYS.includes(day)) === false) {
			throw misfit(`at[${index}]`, '["07:00", function], or ["07:00", function, { days: ["mon"] }]');
		}
		return { name: `at ${time}`, when: { at: time, days }, handle };
	}),
];

const readPartHandler = (parts: Parts, part: string, trigger: string, handler: unknown): PartHandler => {
	const kind = parts[part]?.makes;
	if (kind === undefined) {
		throw misfit(`on.${part}`, `a part: ${Object.keys(parts).join(", ")}`);
	}
	const event = PART_KINDS.find(({ name }) => name === kind)?.event;
	const triggers = [
		...(event === undefined ? [] : [event.by.charAt(2).toLowerCase() + event.by.slice(3)]),
		...(kind === "button" ? ["longPress"] : []),
		...(kind === "sensor" ? ["above", "below"] : []),
	];
	const name = `on.${part}.${trigger}`;
	if (!triggers.includes(trigger)) {
		throw misfit(name, triggers.join(", ") || `no handler: a ${kind} has no events`);
	}
	if (trigger === "above" || trigger === "below") {
		return readLimitHandler(part, trigger, handler);
	}
	if (!isHandler(handler)) {
		throw misfit(name, "a function");
	}
	const long = kind === "button" && { long: trigger === "longPress" };
	return { name: `${part}.${trigger}`, when: { event: event?.name, [kind]: part, ...long }, handle: handler };
};

const readLimitHandler = (sensor: string, trigger: "above" | "below", handler: unknown): PartHandler => {
	const [limit, handle, options = {}] = Array.isArray(handler) ? handler : [];
	const { kind, cooldown } = options as NonNullable<LimitHandler<Parts>[2]>;
	if (typeof limit !== "number" || !isHandler(handle) || !(cooldown === undefined || isSeconds(cooldown))) {
		throw misfit(`on.${sensor}.${trigger}`, "[number, function], or [number, function, { cooldown: 60 }]");
	}
	return { name: `${sensor}.${trigger} ${limit}`, when: { sensor, kind, [trigger]: limit }, cooldown, handle };
};
