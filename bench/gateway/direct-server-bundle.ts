import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/**
 * Bundles the server to compare with into one JavaScript file: other programs start it, some of them for every
 * request, and shall not be slow because TypeScript has to be translated first.
 */
export async function bundleDirectServer(): Promise<string> {
	const outfile = fileURLToPath(new URL(`../../.cache/direct-server-${process.pid}.mjs`, import.meta.url));
	await build({
		entryPoints: [fileURLToPath(new URL("direct-server.ts", import.meta.url))],
		outfile,
		bundle: true,
		packages: "external",
		format: "esm",
		platform: "node",
		target: "node20",
	});
	process.once("exit", () => rmSync(outfile, { force: true }));
	return outfile;
}
