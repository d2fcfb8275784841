import { string } from "../mcp_server/schema.js";
import { defineTool } from "./define-tool.js";

export default defineTool({
	name: "self.assets.set_download_url",
	description: "Set the URL from which the device downloads its assets when it starts.",
	audience: "user",
	needs: ["settings"],
	input: { url: string({ description: "Where the assets are" }) },
	run({ url }, { settings }) {
		settings.set("assets", "download_url", url);
		return true;
	},
});
