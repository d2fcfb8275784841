import "../../toolchain/xs-globals.js";
import { join } from "node:path";
import { build } from "esbuild";
import type { HardwareTool } from "../../src/tools/define-tool.js";
import { modulesPlugin } from "../../toolchain/modules-plugin.js";
import { ROOT } from "../../toolchain/root.js";

const TOOLS = join(ROOT, "src/platform/tools.ts");

/** The firmware's tools, in the order of the list. */
export async function loadTools(): Promise<readonly HardwareTool[]> {
	const { outputFiles } = await build({
		entryPoints: [TOOLS],
		bundle: true,
		write: false,
		format: "esm",
		platform: "neutral",
		plugins: [modulesPlugin()],
	});
	const script = Buffer.from(outputFiles[0]?.contents ?? []).toString("base64");
	const { findTools } = await import(`data:text/javascript;base64,${script}`);
	return findTools();
}
