import { MAX_SAID } from "../hardware/assistant.js";
import { ACTS, defineTool, string } from "./define-tool.js";

export default defineTool({
	name: "self.remote_wakeup",
	title: "Wake up",
	description:
		"Wake the device for a call from another one, as servers of the xiaozhi family do: it says the reason to its assistant, and then listens. " +
		"While the assistant speaks, it is interrupted instead.",
	audience: "user",
	annotations: { ...ACTS, openWorldHint: true },
	needs: ["assistant"],
	input: { reason: string({ minLength: 1, maxLength: MAX_SAID, description: "Text for the assistant" }) },
	run: ({ reason }, { assistant }) => {
		assistant.wake(reason);
		return true;
	},
});
