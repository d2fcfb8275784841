import { MAX_SAID } from "../hardware/assistant.js";
import { ACTS, defineTool, string } from "./define-tool.js";

export default defineTool({
	name: "self.assistant.say",
	title: "Say to the assistant",
	description:
		"Say a text to the assistant of the device's backend, as if a person had spoken to the device. Returns its whole answer. " +
		"It fails if the backend has no assistant, or does not answer.",
	audience: "user",
	annotations: { ...ACTS, openWorldHint: true },
	needs: ["assistant"],
	input: { text: string({ minLength: 1, maxLength: MAX_SAID, description: "What the person says" }) },
	output: {
		text: string({ description: "The assistant's sentences" }),
		emotion: string({ description: 'The last emotion that it showed: "happy", "neutral"; empty if none' }),
	},
	run: async ({ text }, { assistant }, call) => {
		call.onCancel = () => assistant.interrupt();
		return await assistant.say(text);
	},
});
