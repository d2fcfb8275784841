import type { Hardware } from "../../src/hardware/hardware.js";
import { isOffered } from "../../src/hardware/needs.js";
import { Completion } from "../../src/mcp_features/completion.js";
import { FeatureSet } from "../../src/mcp_features/feature-set.js";
import { Logging } from "../../src/mcp_features/logging.js";
import { Prompts } from "../../src/mcp_features/prompts.js";
import { Resources } from "../../src/mcp_features/resources.js";
import evening from "./evening-prompt.js";
import setting from "./setting-resource.js";
import volume from "./volume-resource.js";

/** What this firmware offers besides tools, for `startFirmware({ features, … })` in its `main.ts`. */
export function makeFeatures(board: Hardware) {
	const resources = new Resources<Hardware>({ resources: [volume, setting].filter((each) => isOffered(each, board)) });
	const prompts = new Prompts<Hardware>([evening].filter((each) => isOffered(each, board)));
	return new FeatureSet<Hardware>([resources, prompts, new Completion({ prompts, resources }), new Logging()]);
}
