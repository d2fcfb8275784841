import "../../toolchain/xs-globals.js";
import type { HardwareTool } from "../../src/tools/define-tool.js";
import { modulesPlugin } from "../../toolchain/modules-plugin.js";
import { importBundled } from "../../toolchain/read-device.js";

/** The firmware's tools, in the order of the list. */
export async function loadTools(): Promise<readonly HardwareTool[]> {
	const { exports } = await importBundled("src/platform/tools.ts", modulesPlugin());
	return exports.findTools();
}
