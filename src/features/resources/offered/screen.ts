import { MAX_PICTURE_BYTES, readWhole } from "../../../hardware/pictures.js";
import { defineResource } from "../define-resource.js";

/** Percent: text stays readable, and the picture small. */
const QUALITY = 60;

export default defineResource({
	uri: "device://self/screen",
	name: "screen",
	title: "Picture of the screen",
	description: "What the device's screen shows now, as a JPEG.",
	mimeType: "image/jpeg",
	needs: ["snapshot"],
	read: async (_variables, { snapshot }) => readWhole(await snapshot.take(QUALITY), MAX_PICTURE_BYTES),
});
