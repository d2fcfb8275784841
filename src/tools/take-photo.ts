import { toBase64 } from "../core/text/base64.js";
import { type Camera, MAX_PICTURE_BYTES, readWhole } from "../hardware/pictures.js";
import { type Revision, reportsFailureAsError } from "../mcp_server/json-rpc.js";
import { uploadPicture } from "../screen/upload-picture.js";
import { ACTS, type Content, defineTool, image, string, text } from "./define-tool.js";

export default defineTool({
	name: "self.camera.take_photo",
	title: "Take photo",
	description:
		"Take a photo with this device's camera: it shows the room, or what is in front of the device, not files or screens.\n" +
		"Returns a JSON object that tells what the photo shows, or the photo.",
	// Not read-only: people near a camera want to be asked.
	annotations: { ...ACTS, openWorldHint: true },
	needs: ["camera", "http"],
	input: {
		question: string({
			maxLength: 1_000,
			default: "What does the photo show?",
			description: "What to find out about the photo",
		}),
	},
	run: async ({ question }, { camera, http, system, settings }, { id, client, session }) => {
		if (client.vision === undefined) {
			return await ownPhoto(camera, session.revision);
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
		// Identifies the call to the vision service. A text could break the header; the family's ids are numbers.
		if (typeof id === "number") {
			headers.set("Mcp-Request-Id", String(id));
		}
		const picture = await camera.capture();
		return text(await uploadPicture(http, { url, headers, question, filename: "camera.jpg", picture }));
	},
});

const NO_VISION = "the client offers no vision service (capabilities.vision in initialize)";

/** Returns the photo itself, for a client without a vision service. Backends of 2024-11-05 read only text. */
const ownPhoto = async (camera: Camera, revision: Revision): Promise<Content> => {
	if (reportsFailureAsError(revision)) {
		throw new Error(NO_VISION);
	}
	const photo = await camera.capture();
	try {
		return image(toBase64(await readWhole(photo, MAX_PICTURE_BYTES)), "image/jpeg");
	} catch (error) {
		throw new Error(`${NO_VISION}, and no photo of its own fits: ${(error as Error).message}`, { cause: error });
	}
};
