import { ACTS, defineTool, string } from "./define-tool.js";

export default defineTool({
	name: "self.screen.preview_image",
	title: "Show picture",
	description: "Download a picture from a URL and show it on the screen for 10 seconds.",
	audience: "user",
	annotations: { ...ACTS, openWorldHint: true },
	needs: ["preview", "http"],
	input: { url: string({ minLength: 1, maxLength: 1_000, description: "URL of the picture, a JPEG or PNG file" }) },
	run: async ({ url }, { preview, http }, call) => {
		const picture = preview.begin();
		const onPiece = (piece: ArrayBuffer): void => picture.write(piece);
		const onOpen = (cancel: () => void): void => {
			call.onCancel = cancel;
		};
		try {
			await http.request({ method: "GET", url, onPiece, onOpen, mustSucceed: true });
			await picture.end();
		} catch (error) {
			picture.cancel();
			throw error;
		}
		return true;
	},
});
