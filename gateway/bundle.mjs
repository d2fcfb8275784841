// Makes gateway/dist, what is published: the program and the library in a few files, with what they use of the firmware's
// sources in them, and type declarations. Libraries stay dependencies.
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));
const dist = `${root}gateway/dist`;

/** Folders of the firmware whose types the library's mention. */
const FIRMWARE_TYPES = ["mcp_server", "protocols", "text"];

rmSync(dist, { recursive: true, force: true });
await build({
	absWorkingDir: root,
	entryPoints: ["gateway/src/cli.ts", "gateway/src/index.ts"],
	outdir: dist,
	bundle: true,
	packages: "external",
	splitting: true,
	format: "esm",
	platform: "node",
	target: "node20",
	sourcemap: true,
});
// Made anew: declarations of sources that are gone would be published too.
rmSync(`${root}.cache/tsc/gateway`, { recursive: true, force: true });
const { status } = spawnSync(
	process.execPath,
	[`${root}node_modules/typescript/bin/tsc`, "--build", `${root}gateway`],
	{
		stdio: "inherit",
	},
);
if (status !== 0) {
	process.exit(1);
}
const isDeclaration = (path) => !/\/cli(\.d\.ts)?$|\/test-|\.test\.d\.ts$|\.tsbuildinfo$/.test(path);
for (const folder of ["gateway/src", ...FIRMWARE_TYPES.map((name) => `src/${name}`)]) {
	cpSync(`${root}.cache/tsc/${folder}`, `${dist}/types/${folder}`, { recursive: true, filter: isDeclaration });
}
copyFileSync(`${root}LICENSE`, `${dist}/LICENSE`);
