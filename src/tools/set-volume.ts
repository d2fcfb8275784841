import { defineTool, done, integer, SETS } from "./define-tool.js";

export default defineTool({
	name: "self.audio_speaker.set_volume",
	title: "Set volume",
	description:
		"Set the volume of the audio speaker. If the current volume is unknown, read it with self.get_device_status first.",
	annotations: SETS,
	needs: ["speaker"],
	input: { volume: integer({ minimum: 0, maximum: 100, description: "Percent of full volume" }) },
	run: ({ volume }, { speaker }) => {
		speaker.volume = volume;
		return done({ volume: speaker.volume });
	},
});
