import { string } from "../mcp_server/schema.js";
import { defineTool } from "./define-tool.js";

export default defineTool({
	name: "self.upgrade_firmware",
	description: "Download firmware from a URL, install it, and restart. Failure shows as an alert on the device.",
	audience: "user",
	annotations: { destructiveHint: true, openWorldHint: true },
	needs: ["updater"],
	input: { url: string({ minLength: 1, maxLength: 1_000, description: "Where the firmware's binary is" }) },
	run({ url }, { updater, screen }) {
		updater.upgrade(url).catch((error: unknown) => {
			trace(`upgrade from ${url} failed: ${String(error)}\n`);
			screen?.show({ alert: { status: "Upgrade failed", message: String(error) } });
		});
		return true;
	},
});
