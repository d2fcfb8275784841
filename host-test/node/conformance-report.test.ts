import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { problemsOf, readFigures, writeReport } from "../conformance/report.js";
import { readSummary, SUITES } from "../conformance/suites.js";

const [{ title }] = SUITES as [(typeof SUITES)[number]];

const SUMMARY = `=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tools-list: 1 passed, 3 failed
✗ tasks-lifecycle: 1 passed, 8 failed

Total: 4 passed, 11 failed

Not scored for 2026-07-28: 1 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ tasks-lifecycle (extension)
`;

const resultsOf = (text: string) => new Map([[title, readSummary(text)]]);

describe("the report on the conformance suites", () => {
	it("has what a suite's summary says, and which scenarios do not count", () => {
		assert.deepEqual(readSummary(SUMMARY), [
			{ name: "ping", passed: 2, failed: 0, unscored: undefined },
			{ name: "tools-list", passed: 1, failed: 3, unscored: undefined },
			{ name: "tasks-lifecycle", passed: 1, failed: 8, unscored: "extension" },
		]);
	});

	it("has figures that are read again", () => {
		const report = writeReport(new Map([["MQTT", resultsOf(SUMMARY)]]));
		assert.deepEqual(readFigures(report).get(`${title} over MQTT`), { passed: 1, of: 2 });
		assert.match(report, /\| tools-list \| \*\*fails\*\* 3 of 4 checks \|/);
	});

	it("is a floor: fewer scenarios are a problem, and so is a failure that is not expected", () => {
		const before = new Map([[`${title} over MQTT`, { passed: 2, of: 2 }]]);
		assert.deepEqual(problemsOf("MQTT", resultsOf(SUMMARY), before), [
			`${title} over MQTT: 1/2, but the report says 2/2`,
			`${title} over MQTT: tools-list fails unexpectedly (3 checks)`,
		]);
		const passed = resultsOf("✓ ping: 2 passed, 0 failed\n✓ tools-list: 4 passed, 0 failed\n");
		assert.deepEqual(problemsOf("MQTT", passed, before), []);
		const fewer = resultsOf("✓ ping: 2 passed, 0 failed\n");
		assert.deepEqual(problemsOf("MQTT", fewer, before), [`${title} over MQTT: 1/1, but the report says 2/2`]);
	});
});
