import { playChime } from "../sound/chime.js";
import { ACTS, defineTool } from "./define-tool.js";

export default defineTool({
	name: "self.audio_speaker.chime",
	title: "Play chime",
	description: "Play a short chime, to get the attention of people nearby or to test the volume.",
	annotations: ACTS,
	needs: ["player"],
	run: async (_args, { player }) => {
		await playChime(player);
		return true;
	},
});
