import { ACTS, defineTool } from "./define-tool.js";

/** Long enough for the answer to reach the backend: the set-up ends the connection. */
const DELAY_MS = 1_000;

export default defineTool({
	name: "self.system.reconfigure_wifi",
	title: "Set up Wi-Fi again",
	description:
		"Open the device's set-up page, by which a person sets its Wi-Fi and backend with a phone. The device leaves its network.\n" +
		"Ask the user to confirm first.",
	annotations: { ...ACTS, destructiveHint: true },
	needs: ["wifiSetup"],
	run: (_args, { wifiSetup }) => {
		wifiSetup.begin(DELAY_MS);
		return true;
	},
});
