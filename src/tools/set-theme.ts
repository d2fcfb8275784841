import { defineTool, done, enumeration, SETS } from "./define-tool.js";

export default defineTool({
	name: "self.screen.set_theme",
	title: "Set screen theme",
	description: "Set the theme of the screen.",
	annotations: SETS,
	needs: ["screen"],
	input: { theme: enumeration(["light", "dark"]) },
	run: ({ theme }, { screen }) => {
		screen.theme = theme;
		return done({ theme: screen.theme });
	},
});
