import { array, defineTool, READS, type Schema } from "./define-tool.js";

const anyRule: Schema<object> = Object.freeze({ type: "object" });

export default defineTool({
	name: "self.rule.list",
	title: "List rules",
	description:
		"List what the device does by itself: its rules, how often and how many seconds ago each ran, and the error of its latest run.",
	annotations: READS,
	needs: ["rules", "ruleBook"],
	output: { rules: array(anyRule) },
	run: (_args, { ruleBook }) => ({ rules: ruleBook.all, local_time: ruleBook.localTime }),
});
