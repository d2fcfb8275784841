import { defineTool } from "./support/define-tool.js";

export default defineTool({
	name: "self.screen.get_info",
	description: "Read the screen's width and height in pixels, and whether it is monochrome.",
	audience: "user",
	annotations: { readOnlyHint: true },
	needs: ["screen"],
	run(_args, { screen }) {
		return { width: screen.width, height: screen.height, monochrome: screen.monochrome };
	},
});
