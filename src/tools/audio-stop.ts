import { defineTool } from "./support/define-tool.js";

export default defineTool({
	name: "self.audio_speaker.stop",
	description: "Stop the sound that the speaker is playing. If nothing is playing, nothing happens.",
	annotations: { idempotentHint: true },
	needs: ["player"],
	run(_args, { player }) {
		player.stop();
		return true;
	},
});
