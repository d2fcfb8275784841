import { defineTool, READS, string } from "xs-mcp";

export default defineTool({
	name: "self.greet",
	title: "Greet",
	description: "Greet somebody by name.",
	annotations: READS,
	needs: [],
	input: { name: string({ maxLength: 40, description: "Whom to greet" }) },
	run: ({ name }) => `Hello ${name}, from the device`,
});
