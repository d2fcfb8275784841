import { log } from "../../src/mcp_server/features/logging.js";
import { defineTool, SETS } from "../../src/tools/define-tool.js";

export default defineTool({
	name: "self.screen.dim",
	title: "Dim the screen",
	description: "Dim the screen step by step.",
	needs: ["screen"],
	annotations: SETS,
	run: async (_args, { screen }, call) => {
		for (; screen.brightness >= 10; screen.brightness -= 10) {
			log(call, "info", { brightness: screen.brightness }, "screen");
			await call.sleep(100);
		}
		return screen.brightness;
	},
});
