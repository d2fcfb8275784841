// Runs a test file, or the suites in a file, of the bundle of a run of Stryker: `node entry.mjs FILE`.
import { resolve } from "node:path";
import { describe, it } from "node:test";

process.env.XS_MCP_TEST_BUNDLE = resolve(".mutation");

for (const { name, tests = {} } of Object.values(await import(resolve(process.argv[2])))) {
	describe(name, () => {
		for (const [title, run] of Object.entries(tests)) {
			it(title, run);
		}
	});
}
