import { MAX_REMINDER_TEXT, MAX_SECONDS } from "../hardware/reminders.js";
import { ACTS, defineTool, integer, string } from "./define-tool.js";

export default defineTool({
	name: "self.timer.set",
	title: "Set timer",
	description:
		"Set a timer on the device. When it is due, the device plays a chime and shows the text. It survives a restart. " +
		"For an alarm at a time of day, compute the seconds until then.",
	annotations: ACTS,
	needs: ["reminders"],
	input: {
		seconds: integer({ minimum: 1, maximum: MAX_SECONDS, description: "Seconds from now" }),
		text: string({ minLength: 1, maxLength: MAX_REMINDER_TEXT, description: "What it is for, as the user sees it" }),
	},
	output: {
		id: integer({ description: "For self.timer.cancel" }),
		text: string(),
		seconds: integer(),
	},
	run: ({ seconds, text }, { reminders }) => reminders.set(seconds, text),
});
