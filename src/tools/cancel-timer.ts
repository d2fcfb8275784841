import { MAX_REMINDERS } from "../hardware/reminders.js";
import { integer } from "../mcp_server/schema.js";
import { defineTool, SETS } from "./define-tool.js";

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
