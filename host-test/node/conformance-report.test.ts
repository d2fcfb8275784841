import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { clientProblems, writeClientPart } from "../conformance/client-report.js";
import { problemsOf } from "../conformance/report.js";
import { listScenarios, readSummary, SUITES } from "../conformance/suites.js";

const [{ title }] = SUITES as [(typeof SUITES)[number]];

const SUMMARY = `=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tools-list: 1 passed, 3 failed
✗ tasks-status-notifications: 1 passed, 8 failed

Total: 4 passed, 11 failed

Not scored for 2026-07-28: 1 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ tasks-status-notifications (extension)
`;

const DOCUMENT = readFileSync(new URL("../../docs/verified.md", import.meta.url), "utf8");

const resultsOf = (text: string) => new Map([[title, readSummary(text)]]);

describe("the report on the conformance suites", () => {
	it("has what a suite's summary says, and which scenarios do not count", () => {
		assert.deepEqual(readSummary(SUMMARY), [
			{ name: "ping", passed: 2, failed: 0, unscored: undefined },
			{ name: "tools-list", passed: 1, failed: 3, unscored: undefined },
			{ name: "tasks-status-notifications", passed: 1, failed: 8, unscored: "extension" },
		]);
	});

	it("names every scenario of the newest suite: passed, failed or not applicable, and why", () => {
		const results = [...DOCUMENT.matchAll(/^\| (passed|(?:failed|not applicable): .+) \| (`.+`) \|$/gm)];
		const named = results.flatMap(([, , names = ""]) => names.replaceAll("`", "").split(", "));
		const listed = [...listScenarios("Server"), ...listScenarios("Client")];
		assert.ok(listed.length > 100);
		assert.deepEqual(named.sort(), listed.sort());
		assert.doesNotMatch(DOCUMENT, /not applicable: not run|failed: unexpectedly/);
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

describe("the report on the gateway as a client of upstream servers", () => {
	const passed = { name: "tools_call", passed: 2, failed: 0, unscored: undefined };
	const failed = { name: "sse-retry", passed: 1, failed: 1, failures: ["retry: too early"], unscored: undefined };
	const others = { name: "later", passed: 0, failed: 1, unscored: "added-after-release" };

	it("names the scenario that is edited", () => {
		const part = writeClientPart(new Map());
		assert.match(part, /edited: in `http-custom-headers`/);
		assert.ok(DOCUMENT.includes(part.split("\n| ")[0] as string), "the document has the same text");
	});

	it("is a floor, and names each check that failed", () => {
		const before = writeClientPart(new Map([["2025-11-25", [passed, { ...failed, failed: 0 }]]]));
		assert.deepEqual(clientProblems(new Map([["2025-11-25", [passed, failed, others]]]), before), [
			"client, 2025-11-25: 1/2, but the report says 2/2",
			"client, 2025-11-25: sse-retry fails unexpectedly (1 checks)\n  retry: too early",
			"client, 2025-11-25: later fails unexpectedly (1 checks)",
		]);
	});
});
