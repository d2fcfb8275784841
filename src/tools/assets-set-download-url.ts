import { string } from "../mcp_server/schema.js";
import { defineTool } from "./support/define-tool.js";

export default defineTool({
	name: "self.assets.set_download_url",
	description: "Store the URL of the device's assets, for applications that load them. self.get_system_info shows it.",
	audience: "user",
	needs: ["settings"],
	input: { url: string({ description: "Where the assets are" }) },
	run({ url }, { settings }) {
		settings.set("assets", "download_url", url);
		return true;
	},
});
