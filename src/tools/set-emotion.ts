import { emotionWords } from "../screen/emotions.js";
import { defineTool, done, enumeration, SETS } from "./define-tool.js";

export default defineTool({
	name: "self.screen.set_emotion",
	title: "Set emotion",
	description: "Set the emotion of the face on the screen. It stays until another is set, or the assistant shows one.",
	annotations: SETS,
	needs: ["screen"],
	input: { emotion: enumeration(emotionWords()) },
	run: ({ emotion }, { screen }) => {
		screen.show({ emotion });
		return done({ emotion });
	},
});
