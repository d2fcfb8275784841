import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, type Plugin, stop } from "esbuild";

const PLATFORM = fileURLToPath(new URL("../platform/", import.meta.url));
const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url));

/** The modules that each host resolves in its own way, and what stands for them on the virtual device. */
const MODULES: Readonly<Record<string, string>> = {
	time: `${PLATFORM}time.ts`,
	timer: `${PLATFORM}timer.ts`,
	preference: `${PLATFORM}preference.ts`,
	"mc/config": `${PLATFORM}config.ts`,
	"src/platform/build": `${PLATFORM}build.ts`,
	"src/platform/network": `${PLATFORM}network.ts`,
	"src/platform/http-server": `${PLATFORM}http-server.ts`,
	"src/platform/mods": `${PLATFORM}mods.ts`,
	"src/platform/dns-sd": `${PLATFORM}dns-sd.ts`,
	"src/platform/hmac-sha256": `${PLATFORM}hmac-sha256.ts`,
	"virtual-host": `${PLATFORM}virtual-host.ts`,
	"src/boards/target/board": `${SOURCE}boards/virtual/board.ts`,
};

const platform: Plugin = {
	name: "platform",
	setup(build) {
		build.onResolve({ filter: /^[a-z]/ }, ({ path }) => ({
			path: MODULES[path] ?? "",
			...(MODULES[path] ? {} : { errors: [{ text: `${path}: not a module of the virtual device` }] }),
		}));
	},
};

/** Gives the firmware another version, for an image to update to. */
const versioned = (version: string): Plugin => ({
	name: "version",
	setup(build) {
		build.onLoad({ filter: /\/src\/settings\/firmware\.ts$/ }, async ({ path }) => {
			const source = await readFile(path, "utf8");
			const contents = source.replace(/version: "[^"]*"/, `version: ${JSON.stringify(version)}`);
			return { contents, loader: "ts" };
		});
	},
});

/** The firmware's entry. */
const FIRMWARE_ENTRY = `${SOURCE}main.ts`;

/**
 * Ends the bundler's process, which otherwise stays as long as this one. {@link bundle} starts it again. No bundle may be
 * in the making.
 */
export const endBundler: () => Promise<void> = stop;

/**
 * Bundles firmware into one script for an engine.
 *
 * ES2022 is what XS 13.3 speaks. The modules' contents stand in a strict block, and `let` in place of the `var` that
 * esbuild writes at the top: otherwise each of their names would be a property of the global object, which XS searches
 * from its start at every use. They stand in no function, because XS copies the code of a function out of the one around
 * it, and would hold all of it once more while it loads.
 *
 * @param entry path of the TypeScript module to start with
 * @param shortNames whether local names are shortened, as Moddable's release builds strip them; stack traces suffer
 * @param version the firmware's version, if it is to have another one than its source says
 */
export async function bundle(entry: string = FIRMWARE_ENTRY, shortNames = false, version?: string): Promise<string> {
	const result = await build({
		entryPoints: [entry],
		bundle: true,
		write: false,
		format: "esm",
		target: "es2022",
		platform: "neutral",
		legalComments: "none",
		minifySyntax: true,
		minifyIdentifiers: shortNames,
		logLevel: "silent",
		plugins: version === undefined ? [platform] : [platform, versioned(version)],
	});
	const modules = result.outputFiles[0]?.text ?? "";
	// Unless told to remove white space, esbuild begins a line with each statement of the top, and only with those.
	return `"use strict";{\n${modules.replace(/^var /gm, "let ")}}\n`;
}
