import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Interfaces only; chosen by platform; run once the machine is up. */
const NOT_PRELOADED = /^(hardware\/.*|boards\/.*|main)$/;

interface Manifest {
	readonly modules: Readonly<Record<string, string | readonly string[]>>;
	readonly preload: readonly string[];
}

const manifest = JSON.parse(readFileSync(`${ROOT}manifest.json`, "utf8")) as Manifest;
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
