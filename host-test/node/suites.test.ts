import "./xs-globals.js";
import { describe, it } from "node:test";
import { SUITES } from "../suites/index.js";

for (const { name, tests } of SUITES) {
	describe(`on Node: ${name}`, () => {
		for (const [title, run] of Object.entries(tests)) {
			it(title, run);
		}
	});
}
