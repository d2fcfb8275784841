// Makes gateway/dist, what is published: the program and the library, and their type declarations.
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import "../scripts/register.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const dist = `${root}gateway/dist`;

/** Folders of the firmware whose types the library's mention. */
const FIRMWARE_TYPES = ["mcp_server", "protocols", "text"];

/** What only the repository has a use for. */
const NOT_PUBLISHED = /\/cli$|\.tsbuildinfo$/;

const { bundleGateway } = await import("./bundle.ts");
rmSync(dist, { recursive: true, force: true });
await bundleGateway(dist);
// Made anew: declarations of sources that are gone would be published too.
rmSync(`${root}.cache/tsc/gateway`, { recursive: true, force: true });
const { status } = spawnSync(
	process.execPath,
	[`${root}node_modules/typescript/bin/tsc`, "--build", "--force", `${root}tsconfig.node.json`],
	{
		stdio: "inherit",
	},
);
if (status !== 0) {
	process.exit(1);
}
for (const folder of ["gateway/src", ...FIRMWARE_TYPES.map((name) => `src/${name}`)]) {
	const filter = (path) => !NOT_PUBLISHED.test(path);
	cpSync(`${root}.cache/tsc/${folder}`, `${dist}/types/${folder}`, { recursive: true, filter });
}
copyFileSync(`${root}LICENSE`, `${dist}/LICENSE`);
