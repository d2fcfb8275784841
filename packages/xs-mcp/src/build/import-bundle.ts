import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Message, type Plugin } from "esbuild";

/**
 * Bundles a module of the firmware, and imports it on this computer.
 *
 * @param onWarnings called with the bundler's warnings before the import
 */
export async function importBundle<Module>(
	entry: string,
	plugin: Plugin,
	onWarnings: (warnings: readonly Message[]) => void = () => {},
): Promise<Module> {
	const folder = mkdtempSync(join(tmpdir(), "xs-mcp-"));
	try {
		const outfile = join(folder, "module.mjs");
		const { warnings } = await build({
			entryPoints: [entry],
			outfile,
			bundle: true,
			format: "esm",
			target: "node20",
			platform: "neutral",
			logLevel: "silent",
			sourcemap: "inline",
			plugins: [plugin],
		});
		onWarnings(warnings);
		// Errors name the lines of the sources.
		process.setSourceMapsEnabled(true);
		return await import(pathToFileURL(outfile).href);
	} finally {
		rmSync(folder, { recursive: true });
	}
}
