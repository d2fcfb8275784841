import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "xs-mcp/root";
import { temporaryFolder } from "../host-test/support/testing.js";
import { start } from "./start-tour.js";

function startOwn(manifest: string, commands: string) {
	return start(`${commands}\n`, "--engine", "v8", "--port", "0", "--http-port", "0", "--manifest", manifest);
}

function writeDevice(parts: string): string {
	const folder = temporaryFolder();
	const include = ["manifest.json", "src/hardware/parts/manifest.json"].map((path) =>
		relative(folder, join(ROOT, path)),
	);
	writeFileSync(`${folder}/manifest.json`, JSON.stringify({ include, modules: { device: "./device" } }));
	writeFileSync(
		`${folder}/device.ts`,
		`import { device, relay } from "xs-mcp";\nexport default device({ parts: { ${parts} } });\n`,
	);
	return `${folder}/manifest.json`;
}

describe("npm start with a device of one's own", () => {
	it("has its parts, and those of no other board", () => {
		const { status, stdout } = startOwn("examples/pump/manifest.json", "call self.switch.set name=pump on=true\nlist");
		assert.match(stdout, /self_switch_set \{"name":"pump","on":true\}\n(?:.*\n)* +\{"title":"Pump","on":true/);
		assert.doesNotMatch(stdout, /self_light_set|self\.light\.set/);
		assert.equal(status, 0);
	});

	it("warns of a pin that decides how the chip starts", () => {
		const { status, stdout } = startOwn(writeDevice("pump: relay({ pin: 12 })"), "quit");
		assert.match(stdout, /warning: .*device\.ts: part pump: pin 12 decides how the ESP32 starts/);
		assert.equal(status, 0);
	});
});
