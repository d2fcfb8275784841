import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testsFor } from "../runner/select.js";

describe("an argument of npm test", () => {
	it("may be a test file, or a source with its tests in the same place below test/", () => {
		const test = "gateway/test/cli/serve-help.test.ts";
		assert.deepEqual(testsFor(test), [test]);
		assert.ok(testsFor("gateway/src/cli").includes(test));
	});

	it("fails for sources of the firmware, and names their tests", () => {
		const [, path = ""] = /src\/tools: .*the tests of src\/: (\S+)$/.exec(messageFor("src/tools")) ?? [];
		assert.deepEqual(testsFor(path), [path]);
		assert.doesNotMatch(messageFor("docs"), /src\//);
	});
});

function messageFor(argument: string): string {
	try {
		return `found: ${testsFor(argument)}`;
	} catch (error) {
		return (error as Error).message;
	}
}
