import { ACTS, array, boolean, defineTool, integer, optional, string } from "./define-tool.js";

export default defineTool({
	name: "self.assistant.ask_user",
	title: "Ask the user",
	description:
		"Ask a person who stands at this device, on its screen, not the user of this chat. They choose by its buttons or touch screen. " +
		"Returns what was chosen, or that nobody answered in time. Keep texts short: the screen is small.",
	annotations: ACTS,
	needs: ["screen", "questions"],
	input: {
		question: string({ minLength: 1, maxLength: 200 }),
		choices: array(string({ minLength: 1, maxLength: 40 }), { minItems: 1, maxItems: 8 }),
		seconds: integer({ minimum: 5, maximum: 300, default: 20, description: "How long to wait for the person" }),
	},
	output: {
		answered: boolean({ description: "Whether the person has chosen" }),
		choice: optional(string({ description: "What they have chosen" })),
	},
	run: async ({ question, choices, seconds }, { questions }, call) => {
		call.onCancel = () => questions.cancel();
		const choice = await questions.ask({
			text: question,
			choices,
			time: seconds * 1_000,
			onWait: (waited, marked) => call.progress(waited / 1_000, seconds, `nobody has answered yet; marked: ${marked}`),
		});
		return choice === undefined ? { answered: false } : { answered: true, choice };
	},
});
