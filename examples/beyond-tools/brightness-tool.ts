import { elicit } from "../../src/mcp_server/features/elicit.js";
import { defineTool, integer, SETS } from "../../src/tools/define-tool.js";

export default defineTool({
	name: "self.screen.ask_brightness",
	title: "Ask for brightness",
	description: "Let the user say how bright the screen should be.",
	needs: ["screen"],
	annotations: SETS,
	run: async (_args, { screen }, call) => {
		const fields = { percent: integer({ minimum: 0, maximum: 100, default: screen.brightness }) };
		const answer = await elicit(call, { message: "How bright should the screen be?", fields });
		if (answer.action !== "accept") {
			return "The brightness stays as it is.";
		}
		screen.brightness = answer.content.percent;
		return `The brightness is ${screen.brightness} percent.`;
	},
});
