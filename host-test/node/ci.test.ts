import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { FileReport, Progress } from "../runner/report.js";
import { testsFor } from "../runner/select.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const WORKFLOWS = join(ROOT, ".github/workflows");
const workflow = (name: string): string => readFileSync(join(WORKFLOWS, name), "utf8");

describe("continuous integration", () => {
	it("is the same script in every workflow, on each supported version of Node", () => {
		for (const name of readdirSync(WORKFLOWS)) {
			assert.match(workflow(name), /run: bash \.ci\/run$/m);
			assert.doesNotMatch(workflow(name), /apt-get/);
		}
		assert.match(workflow("ci.yml"), /node: \[20, 22, 24, 26\]/);
		assert.match(readFileSync(join(ROOT, ".ci/run"), "utf8"), /^for version in 20 22 24 26; do$/m);
	});

	it("runs tests that exist on Windows and macOS", () => {
		const [, ...commands] = workflow("ci.yml").split("run: npm test -- ");
		const paths = commands.flatMap((each) => each.split("\n")[0]?.split(" ") ?? []);
		assert.ok(paths.length > 3);
		for (const path of paths) {
			assert.ok(testsFor(path).length > 0, path);
		}
	});
});

describe("a suite that is skipped", () => {
	it("is not said to be ok", (t: TestContext) => {
		const lines: string[] = [];
		t.mock.method(console, "log", (line: string) => lines.push(line));
		const event = { type: "pass", name: "a broker", nesting: 0, isSuite: true, skip: "it is not installed" } as const;
		new Progress(1).hear(event);
		t.mock.restoreAll();
		assert.deepEqual(lines, ["skipped a broker: it is not installed"]);
		const report = new FileReport("file");
		report.hear(event);
		assert.equal(report.skipped.get("it is not installed"), 1);
	});
});
