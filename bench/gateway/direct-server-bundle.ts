import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Era } from "../../host-test/e2e/clients.js";
import { Program } from "../../host-test/e2e/program.js";

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

/** Starts the server to compare with, and says where clients of a revision find it. */
export async function startDirectServer(
	bundle?: string,
): Promise<{ readonly program: Program; readonly urlOf: (era: Era) => string }> {
	const program = await Program.start([bundle ?? (await bundleDirectServer())], (output) =>
		output.includes("listening"),
	);
	const base = `http://127.0.0.1:${program.said(/listening on (\d+)/)}`;
	return { program, urlOf: (era) => `${base}/${era === "2025-11-25" ? "session" : "stateless"}` };
}
