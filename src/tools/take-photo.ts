import { text } from "../mcp_server/content.js";
import { string } from "../mcp_server/schema.js";
import { defineTool } from "./support/define-tool.js";
import { READS } from "./support/hints.js";
import { uploadPicture } from "./support/upload-picture.js";

export default defineTool({
	name: "self.camera.take_photo",
	title: "Take photo",
	description:
		"Take a photo and have it explained. Use it whenever the user asks you to look at something.\n" +
		"Returns a JSON object that tells what the photo shows.",
	annotations: { ...READS, idempotentHint: false, openWorldHint: true },
	needs: ["camera", "http"],
	input: { question: string({ maxLength: 1_000, description: "What to find out about the photo" }) },
	async run({ question }, { camera, http, system, settings }, { client }) {
		if (client.vision === undefined) {
			throw new Error("the backend offers no vision service (capabilities.vision in initialize)");
		}
		const { url, token } = client.vision;
		const headers = new Map<string, string>();
		if (token !== "") {
			headers.set("Authorization", `Bearer ${token}`);
		}
		if (system !== undefined) {
			headers.set("Device-Id", system.macAddress);
		}
		const clientId = settings?.get("board", "uuid");
		if (typeof clientId === "string") {
			headers.set("Client-Id", clientId);
		}
		const fields = [{ name: "question", value: question }];
		const photo = await camera.capture();
		return text(await uploadPicture(http, { url, headers, fields, filename: "camera.jpg", picture: photo }));
	},
});
