import { defineResource } from "../../src/features/resources/define-resource.js";

export default defineResource({
	uri: "device://self/volume",
	name: "volume",
	description: "How loud the speaker is, in percent.",
	mimeType: "application/json",
	needs: ["speaker"],
	read: (_variables, { speaker }) => ({ volume: speaker.volume }),
});
