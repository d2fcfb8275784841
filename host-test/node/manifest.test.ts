import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What a platform has. */
const NOT_PORTABLE = /^platform\//;

/** Interfaces only; chosen by platform; run once the machine is up. */
const NOT_PRELOADED = /^(hardware\/.*|boards\/.*|main)$/;

interface Manifest {
	readonly modules: Readonly<Record<string, string | readonly string[]>>;
	readonly preload: readonly string[];
}

function readManifest(name: string): Manifest {
	return JSON.parse(readFileSync(`${ROOT}${name}`, "utf8")) as Manifest;
}

const manifest = readManifest("manifest.json");
const portable = readManifest("src/manifest.json");
const modules = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" })
	.filter((name) => name.endsWith(".ts"))
	.map((name) => name.slice(0, -".ts".length));
const preloadable = modules.filter((name) => !NOT_PRELOADED.test(name)).sort();

it("manifest.json preloads every module of the firmware, and none that is gone", () => {
	assert.deepEqual([...manifest.preload].sort(), preloadable);
});

it("manifest.json names every folder of the firmware", () => {
	for (const name of preloadable.filter((each) => each.includes("/"))) {
		const folder = name.split("/")[0];
		assert.equal(manifest.modules[`${folder}/*`], `./src/${folder}/*`, name);
	}
});

it("src/manifest.json preloads every module that needs no platform, under the name of its file", () => {
	const names = preloadable.filter((name) => !NOT_PORTABLE.test(name)).map((name) => `src/${name}`);
	assert.deepEqual([...portable.preload].sort(), names);
});

it("src/manifest.json names every folder that needs no platform", () => {
	const folders = new Set(preloadable.filter((name) => !NOT_PORTABLE.test(name)).map((name) => name.split("/")[0]));
	for (const folder of folders) {
		const [name, source] =
			folder === "firmware" ? ["src/firmware", "./firmware"] : [`src/${folder}/*`, `./${folder}/*`];
		assert.equal(portable.modules[name], source, folder);
	}
});
