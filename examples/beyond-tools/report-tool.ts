import { toBase64 } from "../../src/core/text/base64.js";
import { readWhole } from "../../src/hardware/pictures.js";
import { embeddedResource } from "../../src/mcp_server/features/resources.js";
import { defineTool, image, READS, resourceLink, text } from "../../src/tools/define-tool.js";

export default defineTool({
	name: "self.report",
	title: "Report",
	description: "Report what the camera sees, and the battery.",
	needs: ["camera", "battery"],
	annotations: READS,
	run: async (_args, { camera, battery }) => [
		text("Here is what the camera sees:"),
		image(toBase64(await readWhole(await camera.capture(), 6_000)), "image/jpeg"),
		embeddedResource({ uri: "report://battery", mimeType: "application/json", data: { level: battery.level } }),
		resourceLink({ uri: "device://self/state", name: "state", mimeType: "application/json" }),
	],
});
