import { MAX_TEXT_LENGTH } from "../core/text/short-text.js";
import { boolean, defineTool, integer, SETS, string } from "./define-tool.js";

export default defineTool({
	name: "self.screen.show_text",
	title: "Show text",
	description:
		"Show a text on the screen for a while, as a message to the people nearby. A newer text takes its place. Long texts are shown page by page.",
	annotations: SETS,
	needs: ["screen"],
	input: {
		text: string({ minLength: 1, maxLength: MAX_TEXT_LENGTH }),
		seconds: integer({ minimum: 1, maximum: 3_600, default: 60, description: "How long it is shown" }),
		alert: boolean({ default: false, description: "As a warning, in red, for as long as it takes to read" }),
	},
	run: ({ text, seconds, alert }, { screen }) => {
		screen.show(alert ? { alert: { status: "", message: text } } : { message: text }, seconds * 1_000);
		return true;
	},
});
