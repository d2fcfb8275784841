import { done } from "../mcp_server/content.js";
import { enumeration } from "../mcp_server/schema.js";
import { defineTool, SETS } from "./define-tool.js";

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
