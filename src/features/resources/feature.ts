import type { Feature } from "../../core/listener.js";
import { type Hardware, isOffered } from "../../hardware/hardware.js";
import { Resources } from "../../mcp_server/features/resources.js";
import { OFFERED, STATE_URI } from "./offered.js";

/** MCP resources. Subscribers of the state are notified of each change of the state and of parts. */
export default {
	name: "resources",
	after: ["parts", "conversation", "http", "update"],
	start(app) {
		const offered = new Resources<Hardware>(OFFERED.filter((resource) => isOffered(resource, app.board)));
		app.extensions = [offered];
		app.listen({ onNotification: () => offered.updated(STATE_URI) });
	},
} satisfies Feature;
