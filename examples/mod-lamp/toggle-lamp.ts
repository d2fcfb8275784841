import { ACTS, defineTool } from "../../src/tools/define-tool.js";

export default defineTool({
	name: "self.lamp.toggle",
	title: "Toggle lamp",
	description: "Switch the lamp on if it is off, and off if it is on.",
	annotations: ACTS,
	needs: ["settings"],
	run: (_args, { settings }) => {
		const on = settings.get("lamp", "on") !== 1;
		// On a real board: write to a pin. Here the lamp only remembers.
		settings.set("lamp", "on", on ? 1 : 0);
		return { on };
	},
});
