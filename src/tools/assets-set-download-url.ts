import { defineTool, SETS, string } from "./define-tool.js";

export default defineTool({
	name: "self.assets.set_download_url",
	title: "Set assets URL",
	description: "Store the URL of the device's assets, for applications that load them. self.get_system_info shows it.",
	audience: "user",
	annotations: SETS,
	needs: ["settings"],
	input: { url: string({ maxLength: 500, description: "URL of the assets" }) },
	run: ({ url }, { settings }) => {
		if (!settings.set("assets", "download_url", url)) {
			throw new Error("url: could not be stored; the device's log has the reason");
		}
		return true;
	},
});
