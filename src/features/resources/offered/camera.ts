import { MAX_PICTURE_BYTES, readWhole } from "../../../hardware/pictures.js";
import { defineResource } from "../define-resource.js";

export default defineResource({
	uri: "device://self/camera",
	name: "camera",
	title: "Picture from the camera",
	description: "What the device's camera sees now, as a JPEG. Each read takes a new picture.",
	mimeType: "image/jpeg",
	needs: ["camera"],
	read: async (_variables, { camera }) => readWhole(await camera.capture(), MAX_PICTURE_BYTES),
});
