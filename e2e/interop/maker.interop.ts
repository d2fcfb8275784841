import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { typeScript } from "../../host-test/support/program.js";
import { GARDEN, templateProject } from "../../host-test/support/template-project.js";
import { HOSTS } from "./hosts.js";
import { ScriptedApi } from "./scripted-api.js";

const write = (path: string, text = GARDEN[path]) => ({ path, text, overwrite: true });

/** Calls of the model, and what their results have. */
const CALLS: readonly (readonly [tool: string, args: object, result: RegExp])[] = [
	["list_parts", { part: "relay" }, /maxOn\?: number/],
	["list_boards", {}, /"output":\[[\d,]*\b26\b/],
	[
		"write_project_file",
		write("device.ts", GARDEN["device.ts"]?.replace("maxOn", "maxon")),
		/device\.ts:7:\d+: .*'maxon'/,
	],
	["write_project_file", write("device.ts"), /"ok":true/],
	["write_project_file", write("tools/water-if-dry.ts"), /added tools\/water-if-dry to preload/],
	["write_project_file", write("test/device.test.js"), /"ok":true/],
	["run_tests", {}, /xs-mcp test/],
	["job", {}, /"state":"passed".*# pass 1/],
	["start_device", {}, /"self\.garden\.water_if_dry"/],
	["simulate", { action: "set", value: { soil: 2900 } }, /"value":2900,"part":"soil"/],
	["call_device_tool", { name: "self.garden.water_if_dry" }, /"moisture":0,"waters":true/],
	["read_device", {}, /"value":1,"part":"pump"/],
	["read_log", {}, /pump is on/],
	["stop_device", {}, /stopped/],
];

for (const host of HOSTS) {
	describe(host.title, { skip: host.skip }, () => {
		it("builds a plant waterer with a relay on 26, by xs-mcp mcp", async (t) => {
			const folder = templateProject("garden");
			const [command = "", ...args] = [
				process.execPath,
				...typeScript("packages/xs-mcp/src/xs-mcp-cli.ts", "mcp", folder),
			];
			const model = await ScriptedApi.listen(t, ...CALLS.map(([ending, args]) => ({ ending, args })));
			const prompt = "Make me a plant waterer with a relay on 26";
			const output = await host.run(t, { server: { command, args, env: {} }, model, prompt });
			assert.equal(model.results.length, CALLS.length, output);
			for (const [at, [tool, , expected]] of CALLS.entries()) {
				const result = (model.results[at] ?? "").replaceAll("\\", "");
				assert.match(result, expected, `${tool}: ${result}`);
			}
			for (const [path, text] of Object.entries(GARDEN)) {
				assert.equal(readFileSync(join(folder, path), "utf8"), text);
			}
			t.diagnostic(`${CALLS.length} calls`);
		});
	});
}
