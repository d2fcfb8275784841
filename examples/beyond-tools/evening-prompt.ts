import { definePrompt } from "../../src/features/resources/define-prompt.js";

export default definePrompt({
	name: "evening",
	title: "Good evening",
	description: "Prepares the device for the evening.",
	needs: ["screen"],
	arguments: {
		mood: { description: "How it should feel", required: true, complete: ["calm", "cosy", "festive"] },
		until: { description: "When the evening ends" },
	},
	get: ({ mood, until }, { screen }) =>
		`Make the evening ${mood}${until ? ` until ${until}` : ""}. The screen's brightness is ${screen.brightness} percent.`,
});
