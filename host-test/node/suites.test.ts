import { describe, it } from "node:test";

// Firmware modules use the globals of XS when they are loaded. A bundle keeps no order of static imports.
await import("../../toolchain/xs-globals.js");
const suites = await import("../suites/index.js");

for (const { name, tests } of Object.values(suites)) {
	describe(`on Node: ${name}`, () => {
		for (const [title, run] of Object.entries(tests)) {
			it(title, run);
		}
	});
}
