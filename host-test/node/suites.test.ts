import "../../toolchain/xs-globals.js";
import { describe, it } from "node:test";

// Tools are made when they are loaded: with the globals of XS. A bundle keeps no order of static imports.
const suites = await import("../suites/index.js");

for (const { name, tests } of Object.values(suites)) {
	describe(`on Node: ${name}`, () => {
		for (const [title, run] of Object.entries(tests)) {
			it(title, run);
		}
	});
}
