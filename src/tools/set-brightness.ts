import { defineTool, done, integer, SETS } from "./define-tool.js";

export default defineTool({
	name: "self.screen.set_brightness",
	title: "Set screen brightness",
	description: "Set the brightness of the screen.",
	annotations: SETS,
	needs: ["screen"],
	input: { brightness: integer({ minimum: 0, maximum: 100, description: "Percent of full brightness" }) },
	run: ({ brightness }, { screen }) => {
		screen.brightness = brightness;
		return done({ brightness: screen.brightness });
	},
});
