import "../build/xs-globals.js";
import { join } from "node:path";
import type { HardwareTool } from "../../../../src/tools/define-tool.js";
import { ROOT } from "../../../root.js";
import { importBundle } from "../build/import-bundle.js";
import { modulesPlugin } from "../build/modules-plugin.js";

/** The firmware's tools, in the order of the list. */
export async function loadTools(): Promise<readonly HardwareTool[]> {
	const file = join(ROOT, "src/platform/tools.ts");
	const { findTools } = await importBundle<typeof import("../../../../src/platform/tools.js")>(file, modulesPlugin());
	return findTools();
}
