import { sample } from "../../src/mcp_server/features/sample.js";
import { defineTool, READS, string } from "../../src/tools/define-tool.js";

export default defineTool({
	name: "self.greet",
	title: "Greet a visitor",
	description: "Make up a greeting for a visitor.",
	needs: [],
	annotations: READS,
	input: { name: string({ maxLength: 64 }) },
	run: async ({ name }, _hardware, call) => {
		const messages = `Greet ${name} in at most ten words.`;
		const { text, model } = await sample(call, {
			messages,
			maxTokens: 40,
			systemPrompt: "You are a friendly doorbell.",
		});
		return `${text} (by ${model})`;
	},
});
