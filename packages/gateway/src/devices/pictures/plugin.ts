import { definePlugin, httpUrl, inGroup, integer, KEY, requiring, setting, text } from "../../plugin.js";

/** Receives the pictures of calls in progress, and has a vision model look at them. */
export const pictures = definePlugin({
	name: "pictures",
	settings: inGroup("Photos and pictures", {
		maxPictureBytes: setting(integer("bytes", 1_024, 16_777_216), "Largest picture from a device", 2_097_152),
		visionUrl: requiring(["visionModel"], setting(httpUrl, "Base URL of an OpenAI-compatible API for photos")),
		visionModel: requiring(["visionUrl"], setting(text("model"), "Model name at visionUrl")),
		visionKey: setting(KEY, "API key for visionUrl"),
	}),
	setup: async (gateway): Promise<void> => {
		const { addPictureRoutes } = await import("./picture-routes.js");
		addPictureRoutes(gateway);
	},
});
