import { defineTool, SETS, string } from "./define-tool.js";

export default defineTool({
	name: "self.rule.delete",
	title: "Delete rule",
	description: "Delete a rule of the device. self.rule.list has their names.",
	annotations: SETS,
	needs: ["rules", "ruleBook"],
	input: { name: string() },
	run: ({ name }, { ruleBook }) => {
		ruleBook.delete(name);
		return true;
	},
});
