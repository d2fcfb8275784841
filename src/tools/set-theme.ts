import { enumeration } from "../mcp_server/schema.js";
import { defineTool } from "./support/define-tool.js";

export default defineTool({
	name: "self.screen.set_theme",
	description: "Set the theme of the screen.",
	needs: ["screen"],
	input: { theme: enumeration(["light", "dark"]) },
	run({ theme }, { screen }) {
		screen.theme = theme;
		return true;
	},
});
