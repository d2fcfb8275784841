import { exceptionOf } from "./exceptions.js";
import { listScenarios, type ScenarioResult, SUITES } from "./suites.js";

/** Where the report begins in docs/verified.md. It goes on to the end of the page. */
export const REPORT_HEADING = "## MCP conformance";

/** The results of each suite, by its title, over one transport. */
export type Results = ReadonlyMap<string, readonly ScenarioResult[]>;

/** How many scenarios that count are passed, and how many there are. */
export interface Figure {
	readonly passed: number;
	readonly of: number;
}

export function figureOf(results: readonly ScenarioResult[]): Figure {
	const scored = results.filter(({ unscored }) => unscored === undefined);
	return { passed: scored.filter(isPassed).length, of: scored.length };
}

/** The figures in a report: by suite and transport. */
export function readFigures(report: string): ReadonlyMap<string, Figure> {
	const rows = report.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
	const header = rows.find(([, first]) => first === "suite") ?? [];
	const figures = rows.flatMap((cells) =>
		cells.flatMap((cell, index) => {
			const [, passed, of] = /^\*{0,2}(\d+)\/(\d+)\*{0,2}$/.exec(cell) ?? [];
			return passed === undefined || !SUITES.some(({ title }) => title === cells[1])
				? []
				: [[`${cells[1]} over ${header[index]}`, { passed: Number(passed), of: Number(of) }] as const];
		}),
	);
	return new Map(figures);
}

/** Problems: figures worse than the report's, and unexpected failures, a line each. */
export function problemsOf(transport: string, results: Results, before: ReadonlyMap<string, Figure>): string[] {
	return [...results].flatMap(([title, scenarios]) => {
		const key = `${title} over ${transport}`;
		return problemsWith(key, scenarios, before.get(key));
	});
}

/** Problems of scenarios: a figure worse than the report's, and unexpected failures, a line each. */
export function problemsWith(key: string, scenarios: readonly ScenarioResult[], known: Figure | undefined): string[] {
	const now = figureOf(scenarios);
	const isWorse = known !== undefined && (now.passed < known.passed || now.of < known.of);
	return [
		...(isWorse ? [`${key}: ${figureText(now)}, but the report says ${figureText(known)}`] : []),
		...whyUnexpected(key, scenarios),
	];
}

export function figureText({ passed, of }: Figure): string {
	return `${passed}/${of}`;
}

/** The scenarios that fail without being expected to, with the failed checks: a text each. */
export function whyUnexpected(key: string, scenarios: readonly ScenarioResult[]): string[] {
	return scenarios
		.filter((each) => !isPassed(each) && exceptionOf(each.name) === undefined)
		.map(({ name, failed, failures = [] }) =>
			[`${key}: ${name} fails unexpectedly (${failed} checks)`, ...failures].join("\n  "),
		);
}

/** The report, in Markdown. */
export function writeReport(byTransport: ReadonlyMap<string, Results>): string {
	const transports = [...byTransport.keys()];
	const lines = [
		REPORT_HEADING,
		"",
		"`npm run conformance` runs MCP's official suites (`@modelcontextprotocol/conformance`) against a virtual device on XS,",
		"behind the gateway and [directly](direct.md). It writes this section and those below, and fails if a figure falls.",
		"",
		...table(
			["suite", ...transports],
			SUITES.map(({ title }) => [
				title,
				...transports.map((transport) => figureText(figureOf(byTransport.get(transport)?.get(title) ?? []))),
			]),
		),
		"",
		"### Scenarios for servers",
		"",
		"Every scenario of 0.2.0-alpha.12, in all of its revisions and over every transport. Extensions do not count above.",
		"Those of [tasks](gateway/tasks.md) and [skills](gateway/client-view.md#skills) are run behind the gateway, since a device by itself has neither.",
		"",
		...scenarioTable(
			listScenarios("Server"),
			[...byTransport.values()].flatMap((results) => [...results.values()].flat()),
		),
	];
	return `${lines.join("\n").trimEnd()}\n`;
}

/** A table of scenarios by how they went: every one is named once. */
export function scenarioTable(names: readonly string[], results: readonly ScenarioResult[]): string[] {
	const byResult = new Map<string, string[]>();
	for (const name of names) {
		const result = describeRuns(
			name,
			results.filter((each) => each.name === name),
		);
		byResult.set(result, [...(byResult.get(result) ?? []), `\`${name}\``]);
	}
	return table(
		["result", "scenarios"],
		[...byResult].map(([result, each]) => [result, each.join(", ")]),
	);
}

/** How a scenario went in all of its runs. Without a check that passed or failed it shows nothing. */
function describeRuns(name: string, runs: readonly ScenarioResult[]): string {
	if (!runs.every(isPassed)) {
		return `failed: ${exceptionOf(name) ?? "unexpectedly"}`;
	}
	const nothing = runs.length === 0 ? "not run" : "the suite made no check, since it got no event stream";
	return runs.some(({ passed }) => passed > 0) ? "passed" : `not applicable: ${exceptionOf(name) ?? nothing}`;
}

/** "4 checks", or "fails 1 of 4 checks". */
export function describeResult({ passed, failed }: ScenarioResult): string {
	const all = `${passed + failed} ${passed + failed === 1 ? "check" : "checks"}`;
	return failed === 0 ? `passed, ${all}` : `**fails** ${failed} of ${all}`;
}

function isPassed({ failed }: ScenarioResult): boolean {
	return failed === 0;
}

/** A table in Markdown, line by line. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
	return [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}
