import { describe, it } from "node:test";
import * as suites from "../suites/index.js";

for (const { name, tests } of Object.values(suites)) {
	describe(`on Node: ${name}`, () => {
		for (const [title, run] of Object.entries(tests)) {
			it(title, run);
		}
	});
}
