import { STATUS_KINDS } from "./kinds/index.js";
import { definePartKind } from "./kinds/part-kind.js";

/** Condition under which a rule does not run. All given members must hold. */
export interface RuleState {
	readonly sensor?: string | undefined;
	/** Which value of a sensor of several things. */
	readonly kind?: string | undefined;
	readonly above?: number | undefined;
	readonly below?: number | undefined;
	/** State of a contact or another sensor of true and false. */
	readonly value?: boolean | undefined;
	/** Local times of day, "07:00". The range may include midnight. */
	readonly after?: string | undefined;
	readonly before?: string | undefined;
	/** Whether the named switch, siren or light is on. Default true. */
	readonly on?: boolean | undefined;
	readonly [part: string]: unknown;
}

/** When a rule runs: the time, a limit of a sensor, a press, or another event with its filters. */
export interface RuleTrigger extends RuleState {
	readonly event?: string | undefined;
	/** Name of a button. */
	readonly press?: string | undefined;
	readonly long?: boolean | undefined;
	/** Seconds. */
	readonly every?: number | undefined;
	/** Local time of day, "07:00". */
	readonly at?: string | undefined;
	/** Days of {@link at}: "mon", "tue". Default: each day. */
	readonly days?: readonly string[] | undefined;
}

/** A call of a tool of the device. */
interface RuleCall {
	readonly tool: string;
	readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** A rule, as a client sets it. */
export interface Rule {
	readonly name: string;
	readonly when: RuleTrigger;
	readonly unless?: RuleState | undefined;
	readonly do: readonly RuleCall[];
	/** Minimum seconds from one run to the next. */
	readonly cooldown?: number | undefined;
	/** Whether it runs. Default true. */
	readonly on?: boolean | undefined;
}

/** The rules that the device follows by itself. The firmware makes them in a build with the feature `rules`. */
export interface RuleBook {
	/** Each rule as it is stored, with its runs and its last error. */
	readonly all: readonly object[];
	/** The kinds in the device's status, with rules only while there is one. */
	readonly statusKinds: typeof STATUS_KINDS;
	/** The device's local time, "sun 2026-11-29 07:00"; undefined while its clock is not set. */
	readonly localTime: string | undefined;
	/** Name of a rule or handler that needs the device awake; undefined if only presses and tools trigger them. */
	readonly awake: string | undefined;
	/**
	 * Stores a rule, and replaces the one of the same name.
	 *
	 * @returns the rule as stored
	 * @throws Error that names the member that cannot be used
	 */
	set(rule: Rule): object;
	/** Pauses or resumes a rule. @throws Error with the names of the rules if none has this one */
	turn(name: string, on: boolean): object;
	/** @throws Error with the names of the rules if none has this one */
	delete(name: string): void;
}

/** A rule that the device follows by itself. */
export interface ActiveRule {
	/** Whether it runs; false: it is paused. */
	readonly on: boolean;
	/** Runs since the start. */
	readonly runs: number;
	/** Why the latest run has failed; undefined if it has not. */
	readonly error: string | undefined;
}

/** Kind of the rules. Only a build with the feature `rules` has it, unlike the kinds in kinds/. */
export const rule = definePartKind<ActiveRule>()({
	name: "rule",
	plural: "rules",
	status: [
		{ name: "on", type: "boolean" },
		{ name: "runs", type: "integer" },
	],
	tool: { name: "self.rule.set", part: "name", sets: ["on"] },
});

/** Kinds in the status of a device with rules. */
export const KINDS_WITH_RULES: typeof STATUS_KINDS = Object.freeze([...STATUS_KINDS, rule]);

/** Maximum number of rules. */
export const MAX_RULES = 16;

/** Names become members of results, and of entities in Home Assistant. */
export const isRuleName = (name: string): boolean => /^[A-Za-z]\w{0,31}$/.test(name);

/** Maximum bytes of a rule as JSON. */
export const MAX_RULE_BYTES = 256;

/** Longest time between two runs, in seconds: a week. */
export const MAX_EVERY = 604_800;

/** Days of the week, in the order of JavaScript. */
export const DAYS = Object.freeze(["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const);

/** Whether a text is a time of day, "07:00". A function, because a chip cannot keep regular expressions in flash. */
export const isTimeOfDay = (text: unknown): text is string =>
	typeof text === "string" && /^([01]\d|2[0-3]):[0-5]\d$/.test(text);
