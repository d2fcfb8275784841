import { uploadPicture } from "../screen/upload-picture.js";
import { ACTS, defineTool, integer, string } from "./define-tool.js";

export default defineTool({
	name: "self.screen.snapshot",
	title: "Upload screen picture",
	description: "Take a picture of what the screen shows and upload it to a URL, as a form with a JPEG file.",
	audience: "user",
	annotations: { ...ACTS, openWorldHint: true },
	needs: ["snapshot", "http"],
	input: {
		url: string({ minLength: 1, maxLength: 1_000, description: "URL to upload the picture to" }),
		quality: integer({ minimum: 1, maximum: 100, default: 80, description: "Quality of the JPEG" }),
	},
	run: async ({ url, quality }, { snapshot, http }) => {
		await uploadPicture(http, { url, filename: "screenshot.jpg", picture: await snapshot.take(quality) });
		return true;
	},
});
