// npm run conformance: MCP's official conformance suites against a virtual device with the firmware of
// host-test/fixtures/everything: behind the gateway, and directly. Writes docs/conformance.md.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Option } from "commander";
import { makeProgram, runProgram } from "../../scripts/program.js";
import { problemsOf, type Results, readFigures, writeReport } from "./report.js";
import { runSuite, SUITES } from "./suites.js";
import { TARGETS } from "./targets.js";

const REPORT = fileURLToPath(new URL("../../docs/conformance.md", import.meta.url));

type TargetName = keyof typeof TARGETS;

const ALL = Object.keys(TARGETS) as TargetName[];

async function runSuites(name: TargetName): Promise<Results> {
	return await TARGETS[name](async (url) => {
		const results = new Map();
		for (const suite of SUITES) {
			console.log(`${name}: ${suite.title} …`);
			results.set(suite.title, await runSuite(suite, url));
		}
		return results;
	});
}

const program = makeProgram(
	"run conformance",
	"Runs MCP's official conformance suites against a virtual device, and writes docs/conformance.md.",
)
	.addOption(new Option("--only <way>", "only this way to the device; the report is not written").choices(ALL))
	.action(async ({ only }: { only?: TargetName }) => {
		const before = existsSync(REPORT) ? readFigures(readFileSync(REPORT, "utf8")) : new Map();
		const results = new Map<string, Results>();
		for (const name of only === undefined ? ALL : [only]) {
			results.set(name, await runSuites(name));
		}
		const report = writeReport(results);
		const problems = [...results].flatMap(([name, each]) => problemsOf(name, each, before));
		console.log(report.slice(0, report.indexOf("\n## ")));
		for (const problem of problems) {
			console.error(`error: ${problem}`);
		}
		if (problems.length > 0) {
			process.exitCode = 1;
		} else if (only === undefined) {
			writeFileSync(REPORT, report);
		}
	});

await runProgram(program);
