import { FIRMWARE } from "../core/firmware.js";
import { defineTool, integer, object, READS, string } from "./define-tool.js";

/** The layout version that the C++ firmware uses. */
const LAYOUT_VERSION = 2;

export default defineTool({
	name: "self.get_system_info",
	title: "System information",
	description: "Read the device's chip, memory, firmware version and board.",
	audience: "user",
	annotations: READS,
	needs: ["system"],
	output: { version: integer(), mac_address: string(), application: object({ name: string(), version: string() }) },
	run: (_args, { system, settings, device }) => {
		const uuid = settings?.get("board", "uuid");
		const assetsUrl = settings?.get("assets", "download_url");
		return {
			version: LAYOUT_VERSION,
			...system.info(),
			mac_address: system.macAddress,
			...(typeof uuid === "string" && { uuid }),
			...(typeof assetsUrl === "string" && { assets: { download_url: assetsUrl } }),
			...(device?.isSafe && { safe_mode: true }),
			...(device?.guard.lastError !== undefined && { errors: device.guard.count, last_error: device.guard.lastError }),
			application: { name: FIRMWARE.name, version: FIRMWARE.version },
		};
	},
});
