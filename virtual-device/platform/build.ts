import bootstrap from "../../src/addons/bootstrap.js";
import conversation from "../../src/addons/conversation.js";
import direct from "../../src/addons/direct.js";
import discovery from "../../src/addons/discovery.js";
import http from "../../src/addons/http.js";
import improv from "../../src/addons/improv.js";
import language from "../../src/addons/language.js";
import mods from "../../src/addons/mods.js";
import mqtt from "../../src/addons/mqtt.js";
import power from "../../src/addons/power.js";
import resources from "../../src/addons/resources.js";
import search from "../../src/addons/search.js";
import setup from "../../src/addons/setup.js";
import update from "../../src/addons/update.js";
import type { BuildAddons } from "../../src/app/addons.js";
import { TOOLS } from "../../src/tools/index.js";
import type { HardwareTool } from "../../src/tools/support/define-tool.js";

/** A virtual device has everything. */
export function findTools(): readonly HardwareTool[] {
	return TOOLS;
}

export function findAddons(): BuildAddons {
	return {
		bootstrap,
		conversation,
		direct,
		...(discovery && { discovery }),
		http,
		improv,
		language,
		mods,
		mqtt,
		power,
		resources,
		search,
		setup,
		update,
	};
}
