import { relative } from "node:path";
import { ROOT } from "xs-mcp/root";

interface Failure {
	readonly title: string;
	readonly error: string;
}

/** Results of one test file, from runner/events.mjs. */
export interface FileResult {
	readonly passed: number;
	readonly failures: readonly Failure[];
	/** Counts by the reason why tests were skipped. */
	readonly skipped: Readonly<Record<string, number>>;
	readonly diagnostics: readonly string[];
	/** A line for each suite. */
	readonly lines: readonly string[];
}

export interface FileReport extends FileResult {
	readonly file: string;
	/** Failures of a first run, if the tests have passed in a second one. */
	readonly flaky?: readonly Failure[];
}

/** Number of files up to which each suite gets a line. */
const MAX_FILES_IN_DETAIL = 12;

const FILES_PER_LINE = 10;

export function makeProgress(total: number): (report: FileReport) => void {
	const sum = { done: 0, passed: 0, failed: 0 };
	return ({ file, lines, passed, failures }) => {
		if (total <= MAX_FILES_IN_DETAIL) {
			console.log(lines.join("\n"));
			return;
		}
		sum.done += 1;
		sum.passed += passed;
		sum.failed += failures.length;
		const [clear, end] = process.stdout.isTTY ? ["\r\x1b[K", ""] : ["", "\n"];
		for (const failure of failures) {
			process.stdout.write(`${clear}${describeFailure(failure)}\n`);
		}
		if (process.stdout.isTTY || sum.done % FILES_PER_LINE === 0 || sum.done === total) {
			const failed = sum.failed > 0 ? `, ${sum.failed} failed` : "";
			process.stdout.write(`${clear}${sum.done}/${total} files, ${sum.passed} passed${failed} (${file})${end}`);
		}
	};
}

/** Diagnostics and failures beyond these are counted only: the summary fits a screen. */
const MAX_DIAGNOSTICS = 12;
const MAX_FAILURES_IN_DETAIL = 5;
const MAX_FAILURES = 20;

/** The summary of all: one screen, what failed last. Its final line is one that continuous integration can count. */
export function summarize(reports: readonly FileReport[], milliseconds: number): string {
	const failures = reports.flatMap((report) => report.failures);
	const skipped = new Map<string, number>();
	for (const [reason, count] of reports.flatMap((report) => Object.entries(report.skipped))) {
		skipped.set(reason, (skipped.get(reason) ?? 0) + count);
	}
	const total = (counts: Iterable<number>): number => [...counts].reduce((sum, count) => sum + count, 0);
	return [
		"",
		...reports.flatMap((report) => report.diagnostics).slice(0, MAX_DIAGNOSTICS),
		...[...skipped].map(([reason, count]) => `skipped ${count}: ${reason}`),
		`Took ${Math.round(milliseconds / 1000)} s.`,
		...describeFailures(
			reports.flatMap(({ flaky = [] }) => flaky),
			"FLAKY",
		),
		...describeFailures(failures),
		`${total(reports.map(({ passed }) => passed))} passed, ${failures.length} failed, ${total(skipped.values())} skipped`,
	].join("\n");
}

function describeFailures(failures: readonly Failure[], word = "FAILED"): string[] {
	const more = failures.length - MAX_FAILURES;
	return [
		...failures.slice(0, MAX_FAILURES_IN_DETAIL).map((failure) => `\n${describeFailure(failure, word)}`),
		...failures.slice(MAX_FAILURES_IN_DETAIL, MAX_FAILURES).map(({ title }) => `${word} ${title}`),
		...(more > 0 ? [`and ${more} more`] : []),
	];
}

const MAX_ERROR_LINES = 12;

function describeFailure({ title, error }: Failure, word = "FAILED"): string {
	const lines = error
		.replaceAll(`file://${ROOT}`, "")
		.replaceAll(ROOT, `${relative(process.cwd(), ROOT)}`)
		.split("\n");
	const shown = [...lines.slice(0, MAX_ERROR_LINES), ...(lines.length > MAX_ERROR_LINES ? ["…"] : [])];
	return [`${word} ${title}`, ...shown.map((line) => `    ${line}`)].join("\n");
}
