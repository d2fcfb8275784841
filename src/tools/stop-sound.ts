import { defineTool, SETS } from "./define-tool.js";

export default defineTool({
	name: "self.audio_speaker.stop",
	title: "Stop sound",
	description: "Stop the sound that the speaker is playing. If nothing is playing, nothing happens.",
	annotations: SETS,
	needs: ["player"],
	run: (_args, { player }) => {
		player.stop();
		return true;
	},
});
