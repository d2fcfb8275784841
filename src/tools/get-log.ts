import { array, defineTool, READS, string } from "./define-tool.js";

export default defineTool({
	name: "self.get_log",
	title: "Device log",
	description: "Read the latest lines of the device's own log. Each begins with the seconds since its start.",
	audience: "user",
	annotations: READS,
	needs: ["log"],
	output: { lines: array(string()) },
	run: (_args, { log }) => ({ lines: log.lines }),
});
