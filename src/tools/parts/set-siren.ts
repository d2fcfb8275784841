import { describePart } from "../../hardware/kinds/describe-parts.js";
import { siren as sirenKind } from "../../hardware/kinds/siren.js";
import { checkSeconds } from "../../hardware/kinds/switch.js";
import { ACTS, boolean, defineTool, findPart, number, optional, string } from "../define-tool.js";

/** Longest turn of a pattern, in seconds. */
const LONGEST_TURN = 60;

export default defineTool({
	name: "self.siren.set",
	title: "Sound a siren",
	description:
		"Start or stop a siren, buzzer or beacon of the device. It sounds in a pattern, and stops by itself after a time: a limit of the device.\n" +
		"Returns whether it is on, and the seconds until it stops.",
	annotations: ACTS,
	needs: ["sirens"],
	input: {
		name: string({ maxLength: 64, description: "Which one" }),
		on: optional(
			boolean({
				description: "true starts it, false stops it. If left out, it is toggled, or on with seconds or a pattern",
			}),
		),
		seconds: optional(number({ minimum: 0.1, maximum: 3_600, description: "Stop it again after this time" })),
		on_seconds: optional(
			number({ minimum: 0.1, maximum: LONGEST_TURN, description: "Pattern: how long it sounds at a time. Default 1" }),
		),
		off_seconds: optional(
			number({ minimum: 0, maximum: LONGEST_TURN, description: "Pattern: how long it rests in between. Default 1" }),
		),
	},
	output: { on: boolean() },
	check: ({ name, on, seconds }, { sirens }) =>
		checkSeconds(name, findPart(sirens, "name", name), on === false ? undefined : seconds),
	run: ({ name, on, seconds, on_seconds, off_seconds }, { sirens }) => {
		const found = findPart(sirens, "name", name);
		const isOwn = on_seconds === undefined && off_seconds === undefined;
		found.turn(
			on ?? (seconds !== undefined || !isOwn || !found.on),
			seconds,
			isOwn ? undefined : { on: on_seconds ?? 1, off: off_seconds ?? 1 },
		);
		return describePart(sirenKind, found) as { on: boolean };
	},
});
