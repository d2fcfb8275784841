// Runs test files and suites of the firmware in this process, one after another: `node entry.mjs URL …`.
import { describe, it } from "node:test";

for (const url of process.argv.slice(2)) {
	for (const { name, tests } of Object.values(await import(url))) {
		if (tests !== undefined) {
			describe(name, () => {
				for (const [title, run] of Object.entries(tests)) {
					it(title, run);
				}
			});
		}
	}
}
