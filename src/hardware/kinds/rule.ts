import { definePartKind } from "./part-kind.js";

/** A rule that the device follows by itself. */
export interface ActiveRule {
	/** Whether it runs; false: it is paused. */
	readonly on: boolean;
	/** Runs since the start. */
	readonly runs: number;
	/** Why the latest run has failed; undefined if it has not. */
	readonly error: string | undefined;
}

export const rule = definePartKind<ActiveRule>()({
	name: "rule",
	plural: "rules",
	status: [
		{ name: "on", type: "boolean" },
		{ name: "runs", type: "integer" },
	],
	tool: { name: "self.rule.set", part: "name", sets: ["on"] },
});
