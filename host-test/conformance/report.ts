import { EXPECTED_FAILURES, UNSCORED } from "./expected-failures.js";
import { type ScenarioResult, SUITES } from "./suites.js";

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

/** What is worse than a report says, or fails without being expected to: a line each. */
export function problemsOf(transport: string, results: Results, before: ReadonlyMap<string, Figure>): string[] {
	return [...results].flatMap(([title, scenarios]) => {
		const { passed, of } = figureOf(scenarios);
		const key = `${title} over ${transport}`;
		const known = before.get(key);
		const isWorse = known !== undefined && (passed < known.passed || of < known.of);
		return [
			...(isWorse ? [`${key}: ${passed}/${of}, but the report says ${known.passed}/${known.of}`] : []),
			...whyUnexpected(key, scenarios),
		];
	});
}

/** The scenarios that count and fail without being expected to, with the failed checks: a text each. */
export function whyUnexpected(key: string, scenarios: readonly ScenarioResult[]): string[] {
	return scenarios
		.filter((each) => each.unscored === undefined && !isPassed(each) && !EXPECTED_FAILURES.has(each.name))
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
				...transports.map((transport) => {
					const { passed, of } = figureOf(byTransport.get(transport)?.get(title) ?? []);
					return `${passed}/${of}`;
				}),
			]),
		),
		"",
		...expectedFailures(),
		...SUITES.flatMap(({ title }) => scenarioTable(title, byTransport)),
	];
	return `${lines.join("\n").trimEnd()}\n`;
}

function expectedFailures(): string[] {
	return EXPECTED_FAILURES.size === 0
		? ["No counted scenario is expected to fail."]
		: ["Expected to fail:", "", ...table(["scenario", "reason"], [...EXPECTED_FAILURES])];
}

/** A suite's scenarios that are not passed: the ones that count first. */
function scenarioTable(title: string, byTransport: ReadonlyMap<string, Results>): string[] {
	const transports = [...byTransport.keys()];
	const cell = (name: string, transport: string): string => {
		const found = byTransport
			.get(transport)
			?.get(title)
			?.find((each) => each.name === name);
		return found === undefined ? "not run" : describeResult(found);
	};
	const scenarios = byTransport.get(transports[0] as string)?.get(title) ?? [];
	const failing = (wanted: readonly ScenarioResult[]) =>
		failingOf(
			transports,
			wanted.map(({ name }) => ({ name, cells: transports.map((transport) => cell(name, transport)) })),
		);
	const counted = failing(scenarios.filter((each) => each.unscored === undefined));
	const others = failingUnscored(scenarios);
	return [
		...(counted.length + others.length === 0 ? [] : ["", `## ${title}`]),
		...(counted.length === 0 ? [] : ["", ...counted]),
		...(others.length === 0 ? [] : ["", ...others]),
	];
}

/** How many scenarios fail and do not count: a line for each reason. */
function failingUnscored(scenarios: readonly ScenarioResult[]): string[] {
	const failing = scenarios.filter((each) => each.unscored !== undefined && !isPassed(each));
	return [...new Set(failing.map(({ unscored }) => unscored as string))].map((reason) => {
		const { length } = failing.filter(({ unscored }) => unscored === reason);
		return `Failing scenarios that do not count: ${length}, because ${UNSCORED[reason] ?? `they are “${reason}”`}.`;
	});
}

/** A table of the scenarios that are not passed over every transport; empty if all are passed. */
export function failingOf(
	transports: readonly string[],
	scenarios: readonly { readonly name: string; readonly cells: readonly string[] }[],
): string[] {
	const failing = scenarios.filter(({ cells }) => !cells.every((each) => each.startsWith("passed")));
	return failing.length === 0
		? []
		: table(
				["scenario", ...transports],
				failing.map(({ name, cells }) => [name, ...cells]),
			);
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
