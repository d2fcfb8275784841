import { defineResource } from "./define-resource.js";

/** Percent: text stays readable, and the picture small. */
const QUALITY = 60;

export default defineResource({
	uri: "device://self/screen",
	name: "screen",
	title: "Picture of the screen",
	description: "What the device's screen shows now, as a JPEG.",
	mimeType: "image/jpeg",
	needs: ["snapshot"],
	read: (_variables, { snapshot }) => snapshot.take(QUALITY),
});
