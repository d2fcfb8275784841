import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { it } from "node:test";
import { noSdk, sdk } from "../../../host-test/support/sdk.js";
import { temporaryFolder } from "../../../host-test/support/testing.js";
import { completeManifest, mcconfig } from "../src/moddable/mcconfig.js";
import { sdkEnvironment } from "../src/moddable/sdk.js";
import { ROOT } from "../src/root.js";

/** Stand-ins for ESP-IDF and its compiler. They make empty files; with the variable FAIL, ESP-IDF's build makes nothing. */
const PROGRAMS = {
	"idf.py": `mkdir -p build/config; touch build/config/sdkconfig.h
case "$*" in *build) [ -z "$FAIL" ] && touch build/xs_esp32.elf;; esac`,
	"xtensa-esp32-elf-gcc": 'for last; do :; done; touch "$last"',
	"xtensa-esp32-elf-ar": 'touch "$2"',
	"xtensa-esp32-elf-objdump": '[ -e "$2" ]',
	python: ":",
};

it("a build has nothing of an earlier one: no objects, and no image if ESP-IDF fails, though the SDK's makefile goes on", {
	skip: noSdk,
}, async () => {
	const folder = temporaryFolder("xs-mcp-mcconfig-");
	const bin = join(folder, "bin");
	mkdirSync(bin);
	for (const [name, script] of Object.entries(PROGRAMS)) {
		writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
	}
	const manifest = {
		build: { NAME: "small" },
		include: "$(MODDABLE)/examples/manifest_base.json",
		modules: { "*": "./main" },
	};
	writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
	writeFileSync(join(folder, "main.js"), "export default 1;\n");
	const { PATH, ...rest } = sdkEnvironment(sdk);
	const env = { ...rest, PATH: [bin, PATH].join(delimiter), IDF_PATH: ROOT };
	const build = (FAIL: string): Promise<void> =>
		mcconfig(sdk, folder, ["-p", "esp32", "-t", "build"], { show: false, env: { ...env, FAIL } });
	await build("");
	const archive = join(folder, "build/moddable/bin/esp32/release/small/xs_esp32.a");
	writeFileSync(archive, "an object whose source is gone");
	await build("");
	assert.equal(readFileSync(archive, "utf8"), "");
	await assert.rejects(build("1"), /mcconfig failed/);
});

it("a build for the simulator has a stand-in for the line of a DHT", async () => {
	const folder = temporaryFolder();
	const include = [relative(folder, join(ROOT, "src/hardware/parts/manifest.json"))];
	const own = join(folder, "manifest.json");
	writeFileSync(own, JSON.stringify({ build: { NAME: "x" }, include, modules: { device: "./device" } }));
	writeFileSync(
		join(folder, "device.ts"),
		`import DHT from "embedded:sensor/Humidity-Temperature/DHT";
import { device, sensor } from "xs-mcp";
export default device({ parts: { attic: sensor(DHT, { pin: 5 }) } });
`,
	);
	const output = join(folder, "output");
	mkdirSync(output);
	const made = await completeManifest({ root: folder, bin: folder, host: "lin" }, own, "lin", output);
	const included: readonly string[] = JSON.parse(readFileSync(made, "utf8")).include;
	const dht = included.find((each) => each.endsWith("manifest_dht.json"));
	assert.ok(dht !== undefined, String(included));
	const { platforms } = JSON.parse(readFileSync(join(output, dht), "utf8"));
	for (const host of ["lin", "mac", "win"]) {
		assert.ok(existsSync(join(ROOT, "src/platform", `${platforms[host]?.modules.dht}.ts`)), host);
	}
});
