import { boolean, defineTool, optional, string } from "./define-tool.js";

export default defineTool({
	name: "self.upgrade_firmware",
	title: "Update firmware",
	description:
		"Download firmware from a URL, install it, and restart. If the call asks for progress, it lasts until the firmware is " +
		"installed, or fails with the reason. Otherwise it returns at once, and a failure shows as an alert on the device.",
	audience: "user",
	annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
	needs: ["installer"],
	input: {
		url: string({ minLength: 1, maxLength: 1_000, description: "URL of the firmware image, http or https" }),
		version: optional(string({ maxLength: 32, description: "Version of the image, such as 1.2.0" })),
		sha256: optional(string({ maxLength: 64, description: "SHA-256 of the image, 64 hexadecimal digits" })),
		signature: optional(
			string({ maxLength: 128, description: "Signature of image and version, 128 hexadecimal digits" }),
		),
		anyProject: optional(
			boolean({ description: "Whether another project's firmware may replace this one. Only if the user wants that" }),
		),
	},
	run: (source, { installer }, call) => {
		const installed = installer.install(source, (bytes, total) => call.progress(bytes, total));
		if (call.progressToken !== undefined) {
			return installed.then(() => true);
		}
		installed.catch(() => {
			// The reason is already in the log, and on the screen unless another update is in progress.
		});
		return true;
	},
});
