import { MAX_REMINDERS } from "../hardware/reminders.js";
import { defineTool, integer, SETS } from "./define-tool.js";

export default defineTool({
	name: "self.timer.cancel",
	title: "Cancel timer",
	description: "Cancel a timer of the device. self.timer.list has their ids.",
	annotations: SETS,
	needs: ["reminders"],
	input: { id: integer({ minimum: 1, maximum: MAX_REMINDERS }) },
	run: ({ id }, { reminders }) => {
		reminders.cancel(id);
		return true;
	},
});
