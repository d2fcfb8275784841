import type { BuildAddons } from "../app/addons.js";
import { deepFreeze } from "../text/deep-freeze.js";
import type { HardwareTool } from "../tools/support/define-tool.js";
import { inBuild } from "./in-build.js";

/** Every tool that a build may have, in the order of the list: the files of src/tools. */
const TOOLS: readonly string[] = deepFreeze([
	"get-device-status",
	"set-volume",
	"set-brightness",
	"set-theme",
	"screen-show-text",
	"screen-set-emotion",
	"take-photo",
	"audio-play",
	"audio-stop",
	"audio-chime",
	"light-set",
	"sensor-read",
	"ask-user",
	"timer-set",
	"timer-list",
	"timer-cancel",
	"reconfigure-wifi",
	"get-system-info",
	"reboot",
	"upgrade-firmware",
	"screen-get-info",
	"screen-snapshot",
	"screen-preview-image",
	"assets-set-download-url",
	"assistant-say",
]);

/** Every add-on: the files of src/addons. */
const ADDONS: readonly (keyof BuildAddons)[] = deepFreeze([
	"bootstrap",
	"conversation",
	"direct",
	"discovery",
	"http",
	"improv",
	"language",
	"mods",
	"mqtt",
	"power",
	"resources",
	"search",
	"setup",
	"update",
] as const);

/** The tools that the build has. */
export function findTools(): readonly HardwareTool[] {
	return TOOLS.map((name) => inBuild<HardwareTool>(`src/tools/${name}`)).filter((tool) => tool !== undefined);
}

/** The add-ons that the build has. */
export function findAddons(): BuildAddons {
	return Object.fromEntries(ADDONS.map((name) => [name, inBuild(`src/addons/${name}`)])) as BuildAddons;
}
