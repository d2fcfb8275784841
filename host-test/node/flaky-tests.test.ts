import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "xs-mcp/root";
import { temporaryFolder } from "../support/testing.js";

function run(env: NodeJS.ProcessEnv): { readonly code: number | null; readonly output: string } {
	const marker = { XS_MCP_MARKER: join(temporaryFolder(), "marker") };
	// The lines of this run's own bundle would count as uncovered sources.
	const inherited = { ...process.env, NODE_V8_COVERAGE: undefined };
	const { status: code, stdout: output } = spawnSync(
		process.execPath,
		["tools/run.mjs", "host-test/main.ts", "host-test/fixtures/flaky.test.ts"],
		{ cwd: ROOT, encoding: "utf8", env: { ...inherited, ...marker, ...env } },
	);
	return { code, output };
}

describe("a test that fails", () => {
	it("runs once more in continuous integration, and is named if it passes then", () => {
		const { code, output } = run({ CI: "true" });
		assert.equal(code, 0, output);
		assert.match(output, /^FLAKY passes the second time$/m);
		assert.match(output, /2 passed, 0 failed, 1 skipped$/m);
		assert.match(output, /^skipped needs a broker: it is not installed$/m);
	});

	it("fails the run if it fails again", () => {
		const { code, output } = run({ CI: "true", XS_MCP_ALWAYS: "1" });
		assert.equal(code, 1, output);
		assert.match(output, /^FAILED fails each time, if it is told to$/m);
		assert.match(output, /TypeError: fetch failed\n.*Caused by: Error: connect ECONNREFUSED/s);
	});

	it("fails the run elsewhere", () => {
		const { code, output } = run({ CI: "" });
		assert.equal(code, 1, output);
		assert.match(output, /1 passed, 1 failed, 1 skipped$/m);
	});
});
