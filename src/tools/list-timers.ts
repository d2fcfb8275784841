import { array, defineTool, integer, object, READS, string } from "./define-tool.js";

export default defineTool({
	name: "self.timer.list",
	title: "List timers",
	description: "List the timers that were set on the device, the next one first.",
	annotations: READS,
	needs: ["reminders"],
	output: {
		timers: array(
			object({ id: integer(), text: string(), seconds: integer({ description: "Seconds until it is due" }) }),
		),
	},
	run: (_args, { reminders }) => ({ timers: reminders.all }),
});
