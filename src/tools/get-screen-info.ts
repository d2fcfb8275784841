import { boolean, defineTool, integer, READS } from "./define-tool.js";

export default defineTool({
	name: "self.screen.get_info",
	title: "Screen information",
	description: "Read the screen's width and height in pixels, and whether it is monochrome.",
	audience: "user",
	annotations: READS,
	needs: ["screen"],
	output: { width: integer(), height: integer(), monochrome: boolean() },
	run: (_args, { screen: { width, height, monochrome } }) => ({ width, height, monochrome }),
});
