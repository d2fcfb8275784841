import { describePart } from "../../hardware/kinds/describe-parts.js";
import { checkSeconds, switchKind } from "../../hardware/kinds/switch.js";
import { ACTS, boolean, defineTool, findPart, number, optional, string } from "../define-tool.js";

/** Maximum seconds in a call: a day. */
const MAX_SECONDS = 86_400;

export default defineTool({
	name: "self.switch.set",
	title: "Switch on or off",
	description:
		"Switch something of the device on or off, such as a pump or a heater. It may switch itself off after a time: a limit of the device.\n" +
		"Returns whether it is on, and the seconds until it switches itself off.",
	annotations: ACTS,
	needs: ["switches"],
	input: {
		name: string({ maxLength: 64, description: "Which one" }),
		on: optional(
			boolean({ description: "true switches it on, false off. If left out, it is toggled, or on with seconds" }),
		),
		seconds: optional(
			number({ minimum: 0.1, maximum: MAX_SECONDS, description: "Switch it off again after this time" }),
		),
	},
	output: { on: boolean() },
	check: ({ name, on, seconds }, { switches }) =>
		checkSeconds(name, findPart(switches, "name", name), on === false ? undefined : seconds),
	run: ({ name, on, seconds }, { switches }) => {
		const found = findPart(switches, "name", name);
		found.turn(on ?? (seconds !== undefined || !found.on), seconds);
		return describePart(switchKind, found) as { on: boolean };
	},
});
