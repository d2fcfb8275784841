import { allInBuild } from "src/platform/in-build";
import type { Board, Hardware } from "../hardware/hardware.js";
import { isOffered } from "../hardware/needs.js";
import { FeatureSet } from "../mcp_server/features/feature-set.js";
import { Resources } from "../mcp_server/features/resources.js";
import type { HardwareResource } from "./define-resource.js";
import { STATE_URI } from "./offered/state.js";

/** Folder of the resources: each is a module. */
const RESOURCES = "src/resources/offered/";

/** MCP resources: options for the application. */
export default function resources(board: Board) {
	const offered = new Resources<Hardware>({
		resources: allInBuild<HardwareResource>(RESOURCES).filter((resource) => isOffered(resource, board)),
	});
	const updated = (): void => offered.updated(STATE_URI);
	return {
		features: new FeatureSet<Hardware>([offered]),
		followers: [{ stateChanged: updated, changed: updated }],
	};
}
