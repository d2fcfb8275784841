import { ACTS, defineTool } from "./define-tool.js";

/** Long enough for the answer to reach the backend. */
const DELAY_MS = 1000;

export default defineTool({
	name: "self.reboot",
	title: "Restart device",
	description: "Restart the device.",
	audience: "user",
	annotations: { ...ACTS, destructiveHint: true },
	needs: ["system"],
	run: (_args, { system }) => {
		system.restart(DELAY_MS);
		return true;
	},
});
