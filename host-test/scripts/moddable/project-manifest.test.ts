import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { findState } from "../../../scripts/moddable/module-source.js";
import { makeProjectManifest } from "../../../scripts/moddable/project-manifest.js";
import { fromProject } from "../../../toolchain/manifests.js";
import { readDevice } from "../../../toolchain/read-device.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const RELAY =
	'import { device, relay } from "xs-mcp";\nexport default device({ parts: { pump: relay({ pin: 26 }) } });\n';

/** The ESP32 build of a project with these files, beside a relay. */
async function planOf(files: Readonly<Record<string, string>> = {}, device = RELAY) {
	const folder = temporaryFolder();
	const include = ["manifest.json", "src/parts/manifest.json"].map((each) => relative(folder, join(ROOT, each)));
	const modules = { device: "./device", "tools/*": "./tools/*", "lib/*": "./lib/*" };
	mkdirSync(join(folder, "tools"));
	mkdirSync(join(folder, "lib"));
	for (const [name, text] of Object.entries({
		"manifest.json": JSON.stringify({ include, modules }),
		"device.ts": device,
		...files,
	})) {
		writeFileSync(join(folder, name), text);
	}
	const definition = await readDevice(fromProject(join(folder, "manifest.json")), "esp32");
	assert.ok(definition);
	const { files: made, notes } = makeProjectManifest(folder, "esp32", definition);
	const { modules: changed, preload } = JSON.parse(made["manifest.json"] ?? "") as {
		modules: Record<string, string[]>;
		preload: string[];
	};
	const leftOut = changed["~"]?.map((path) => relative(ROOT, path)) ?? [];
	return { leftOut, preload, notes, exported: made["xs-mcp.ts"] };
}

describe("a build of a device of one's own, for a chip", () => {
	it("has only the parts that the project's modules import, and their tools", async () => {
		const { leftOut, exported } = await planOf();
		for (const each of [
			"src/parts/servo",
			"src/parts/polled-sensor",
			"src/tools/servo/move",
			"src/tools/sensor/read",
		]) {
			assert.ok(leftOut.includes(each), each);
		}
		for (const each of ["src/parts/relay", "src/parts/retried", "src/parts/feature", "src/tools/switch/set"]) {
			assert.ok(!leftOut.includes(each), each);
		}
		assert.equal(exported, 'export { device } from "src/parts/device";\nexport { relay } from "src/parts/relay";\n');
	});

	it("has what its tools import, and all if one imports all", async () => {
		const tool =
			'import { defineTool } from "xs-mcp";\nimport { pick } from "../lib/pick.js";\nexport default defineTool(pick);\n';
		const { exported, preload } = await planOf({ "tools/a.ts": tool, "lib/pick.ts": "export const pick = 1;\n" });
		assert.match(exported ?? "", /^export \{ defineTool \} from "src\/tools\/define-tool";$/m);
		assert.deepEqual(preload, ["xs-mcp", "device", "tools/a", "lib/pick"]);
		const all = await planOf({ "lib/all.ts": 'import * as parts from "xs-mcp";\nexport const get = () => parts;\n' });
		assert.match(all.exported ?? "", /\{ servo \}/);
		assert.ok(!all.leftOut.includes("src/parts/servo"));
	});

	it("says which modules lie in RAM, because they or what they import keep state", async () => {
		const { preload, notes } = await planOf({
			"tools/a.ts": 'import { seen } from "../lib/seen.js";\nexport default () => seen;\n',
			"lib/seen.ts": "\nexport const seen = new Map();\n",
			"lib/wifi.ts": 'import WiFi from "wifi";\nexport const get = () => WiFi;\n',
		});
		assert.deepEqual(preload, ["xs-mcp", "device"]);
		assert.deepEqual(
			notes.map((note) => note.replace(/: \S*lib\//, ": lib/")),
			[
				"tools/a lies in RAM, not in flash: lib/seen.ts, line 2: export const seen = new Map();",
				"lib/seen lies in RAM, not in flash: lib/seen.ts, line 2: export const seen = new Map();",
				"lib/wifi lies in RAM, not in flash: lib/wifi.ts, imports wifi",
			],
		);
	});
});

it("a module is constant if nothing at its top level may change or do something", () => {
	for (const [constant, source] of [
		// biome-ignore lint/suspicious/noTemplateCurlyInString: it is source
		[true, 'import { integer } from "xs-mcp"; const below = integer({ maximum: -1 + 2, title: `to ${1}` });'],
		[true, "const LIMIT: number = 4; export type Kind = 1; export function f() { let count = 0; return ++count; }"],
		[true, 'import { device } from "xs-mcp"; export default device({ parts: { a: [LIMIT] }, run() {} });'],
		[true, "class Each { static make() { return new Each(); } count = 0; } export default Each.make;"],
		[false, "let count = 0;"],
		[false, "const seen = new Map();"],
		[false, "const seen = { last: 0 };"],
		[false, 'const NAMES = ["a"] as const;'],
		[false, "const start = Date.now();"],
		[false, "function now() {} const start = now();"],
		[false, "class Each { static count = 0; }"],
		[false, "const word = /[a-z]+/;"],
		[false, 'import "./other.js"; trace("hello");'],
	] as const) {
		assert.equal(findState(source, "xs-mcp") === undefined, constant, source);
	}
});
