import { playChime } from "../sound/chime.js";
import { defineTool } from "./support/define-tool.js";

export default defineTool({
	name: "self.audio_speaker.chime",
	description: "Play a short chime, to get the attention of people nearby or to test the volume.",
	needs: ["player"],
	async run(_args, { player }) {
		await playChime(player);
		return true;
	},
});
