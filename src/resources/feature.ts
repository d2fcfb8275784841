import type { Board, Hardware } from "../hardware/hardware.js";
import { isOffered } from "../hardware/needs.js";
import { FeatureSet } from "../mcp_server/features/feature-set.js";
import { Resources } from "../mcp_server/features/resources.js";
import { STATE_URI } from "./device-state.js";
import { RESOURCES } from "./index.js";

/** MCP resources: options for the application. */
export default function resources(board: Board) {
	const offered = new Resources<Hardware>({ resources: RESOURCES.filter((resource) => isOffered(resource, board)) });
	const updated = (): void => offered.updated(STATE_URI);
	return {
		features: new FeatureSet<Hardware>([offered]),
		followers: [{ stateChanged: updated, changed: updated }],
	};
}
