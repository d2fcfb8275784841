import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/**
 * Puts the program and the library into a few files each, with what they use of the firmware's sources in them.
 * Libraries are not: they are found where the files are installed.
 *
 * @param folder where `cli.js` and `index.js` go
 */
export async function bundleGateway(folder: string): Promise<void> {
	await build({
		absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
		entryPoints: { cli: "src/cli/command-line.ts", index: "src/index.ts" },
		outdir: folder,
		bundle: true,
		packages: "external",
		splitting: true,
		format: "esm",
		platform: "node",
		target: "node20",
		sourcemap: true,
	});
}
