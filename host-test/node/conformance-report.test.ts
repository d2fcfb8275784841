import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { writeAuthorizationPart } from "../conformance/authorization-scenarios.js";
import { clientProblems, splitReport, writeClientPart } from "../conformance/client-report.js";
import { CLIENT_REVISIONS } from "../conformance/client-scenarios.js";
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

const PACKAGE = new URL("../../node_modules/@modelcontextprotocol/conformance/", import.meta.url);
const DOCUMENT = new URL("../../docs/verified.md", import.meta.url);

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
		assert.match(report, /^Failing scenarios that do not count: 1, because they test the extension /m);
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

	it("names the scenarios of each extension, and the one that is edited", () => {
		const part = writeClientPart(new Map());
		const others = CLIENT_REVISIONS.flatMap((revision) => {
			const text = readFileSync(new URL(`requirements/${revision}.yaml`, PACKAGE), "utf8");
			const { not_scored } = parse(text) as { not_scored: { scenario: string; leg: string; reason: string }[] };
			return not_scored.filter(({ leg, reason }) => leg === "client" && reason === "extension");
		});
		assert.ok(others.length > 10);
		const unnamed = others.filter(({ scenario }) => !part.includes(`\`${scenario}\``));
		assert.deepEqual(unnamed, []);
		assert.match(part, /edited: in `http-custom-headers`/);
		assert.ok(
			readFileSync(DOCUMENT, "utf8").includes(part.split("\n| ")[0] as string),
			"the document has the same text",
		);
	});

	it("is a part of its own, and is replaced without the others", () => {
		const server = writeReport(new Map([["MQTT", resultsOf(SUMMARY)]]));
		const client = writeClientPart(new Map([["2025-11-25", [passed, others]]]));
		const authorization = writeAuthorizationPart([passed]);
		const parts = { server: `${server}\n`, client: `${client}\n`, authorization };
		assert.deepEqual(splitReport(Object.values(parts).join("")), parts);
		assert.match(client, /\| 2025-11-25 \| 1\/1 \|/);
		assert.match(client, /\| later \(added-after-release\) \| \*\*fails\*\* 1 of 1 check \|/);
	});

	it("is a floor, and names each check that failed", () => {
		const before = writeClientPart(new Map([["2025-11-25", [passed, { ...failed, failed: 0 }]]]));
		assert.deepEqual(clientProblems(new Map([["2025-11-25", [passed, failed, others]]]), before), [
			"client, 2025-11-25: 1/2, but the report says 2/2",
			"client, 2025-11-25: sse-retry fails unexpectedly (1 checks)\n  retry: too early",
		]);
	});
});
