import { deepFreeze } from "../core/text/deep-freeze.js";
import { PART_KINDS } from "../hardware/kinds/index.js";
import type { MemberType } from "../hardware/kinds/part-kind.js";
import { DAYS, MAX_EVERY, MAX_RULES, type RuleState, type RuleTrigger } from "../hardware/rules.js";
import type { OptionalProperty } from "../mcp_server/schema.js";
import {
	array,
	boolean,
	defineTool,
	enumeration,
	integer,
	number,
	object,
	optional,
	type Schema,
	SETS,
	string,
} from "./define-tool.js";

/** Schemas of the values of events that a rule may name. The size of the rule limits their length. */
const VALUES: Readonly<Partial<Record<MemberType, Schema>>> = deepFreeze({
	string: string(),
	boolean: boolean(),
	reading: boolean(),
});

/** Members by their names, each optional. */
const eachOptional = (members: readonly (readonly [name: string, type: MemberType])[]) =>
	Object.fromEntries(
		members.flatMap(([name, type]): [string, OptionalProperty][] => {
			const schema = VALUES[type];
			return schema === undefined ? [] : [[name, optional(schema)]];
		}),
	);

/** Names of parts that have events, and the values of the events. */
const filters = eachOptional(
	PART_KINDS.flatMap(({ name, event }) =>
		event === undefined
			? []
			: [[name, "string"] as const, ...event.data.map((value) => [value.name, value.type] as const)],
	),
);

/** Names of parts that are on or off. */
const switched = eachOptional(
	PART_KINDS.filter(({ status }) => status.some(({ name }) => name === "on")).map(({ name }) => [name, "string"]),
);

const limits = deepFreeze({ above: optional(number()), below: optional(number()) });

const when = object({
	press: optional(string({ description: "A button; with long for a long press" })),
	every: optional(integer({ minimum: 60, maximum: MAX_EVERY, description: "Seconds" })),
	at: optional(string({ description: "Local time, such as 07:00" })),
	days: optional(array(enumeration(DAYS), { minItems: 1, maxItems: 7 })),
	event: optional(enumeration(PART_KINDS.flatMap(({ event }) => (event === undefined ? [] : [event.name])))),
	...limits,
	...filters,
}) as Schema<RuleTrigger>;

const unless = object({
	sensor: optional(string()),
	kind: optional(string()),
	...limits,
	value: optional(boolean()),
	...switched,
	on: optional(boolean({ description: "Of the named part. Default true" })),
	after: optional(string({ description: "Local time" })),
	before: optional(string()),
}) as Schema<RuleState>;

const anyArguments: Schema<Readonly<Record<string, unknown>>> = Object.freeze({ type: "object" });

export default defineTool({
	name: "self.rule.set",
	title: "Set a rule",
	description:
		"Set what the device does by itself from now on, also offline and after a restart. A rule of the same name is replaced.\n" +
		"when: a press, an event with values, every so many seconds, a time of day, or a sensor with above or below, which runs " +
		"again after each cooldown (default 60 s) while the value stays there. unless: all that must hold for the rule not to run.\n" +
		'Example: {"name":"water","when":{"sensor":"soil","below":30},"do":[{"tool":"self.switch.set","arguments":{"name":"pump","on":true,"seconds":5}}]}\n' +
		"With a name and on alone, pauses or resumes a rule. Returns the rule as it is stored: check its arguments.",
	annotations: SETS,
	needs: ["rules", "ruleBook"],
	takesCalls: true,
	input: {
		name: string({ description: `Letters, digits and _. At most ${MAX_RULES} rules` }),
		when: optional(when),
		unless: optional(unless),
		do: optional(
			array(object({ tool: string(), arguments: optional(anyArguments) }), {
				minItems: 1,
				maxItems: 4,
				description: "Calls of this device's tools",
			}),
		),
		cooldown: optional(
			integer({ minimum: 1, maximum: MAX_EVERY, description: "Seconds from one run to the next at least" }),
		),
		on: optional(boolean({ description: "false: the rule is paused" })),
	},
	output: {},
	run: ({ name, when, unless, do: calls, cooldown, on }, { ruleBook }) => {
		if (on !== undefined && [when, unless, calls, cooldown].every((member) => member === undefined)) {
			return { ...ruleBook.turn(name, on), local_time: ruleBook.localTime };
		}
		if (when === undefined || calls === undefined) {
			throw new Error(`${when === undefined ? "when" : "do"}: missing, expected an object or a list, or on alone`);
		}
		return { ...ruleBook.set({ name, when, unless, do: calls, cooldown, on }), local_time: ruleBook.localTime };
	},
});
