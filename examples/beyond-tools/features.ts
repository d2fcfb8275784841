import type { Feature } from "../../src/core/listener.js";
import { type Hardware, isOffered } from "../../src/hardware/hardware.js";
import { ClientRequests } from "../../src/mcp_server/features/client-requests.js";
import { Completion } from "../../src/mcp_server/features/completion.js";
import { Logging } from "../../src/mcp_server/features/logging.js";
import { Prompts } from "../../src/mcp_server/features/prompts.js";
import { Resources } from "../../src/mcp_server/features/resources.js";
import { Stateless } from "../../src/mcp_server/features/stateless.js";
import evening from "./evening-prompt.js";
import setting from "./setting-resource.js";
import volume from "./volume-resource.js";

/** Makes the resources, prompts and other MCP capabilities of the device. */
export function makeFeatures(board: Hardware) {
	const resources = new Resources<Hardware>([volume, setting].filter((each) => isOffered(each, board)));
	const prompts = new Prompts<Hardware>([evening].filter((each) => isOffered(each, board)));
	const listed = [resources, prompts, new Completion({ prompts, resources })];
	return [...listed, new Logging(), new Stateless<Hardware>(), new ClientRequests()];
}

/** The feature of the firmware that offers them. */
export const beyondTools: Feature = {
	name: "beyond-tools",
	after: ["resources"],
	start(app) {
		app.extensions = makeFeatures(app.board);
	},
};
