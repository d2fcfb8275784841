import { defineTool } from "./support/define-tool.js";

/** Long enough for the answer to reach the backend. */
const DELAY_MS = 1000;

export default defineTool({
	name: "self.reboot",
	description: "Restart the device.",
	audience: "user",
	needs: ["system"],
	run(_args, { system }) {
		system.restart(DELAY_MS);
		return true;
	},
});
